"""Commands of Orrery that run as their own processes: they have another role than their caller."""
