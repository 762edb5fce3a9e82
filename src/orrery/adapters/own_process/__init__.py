"""Commands of Orrery that run as processes of their own: they have another role than their caller."""
