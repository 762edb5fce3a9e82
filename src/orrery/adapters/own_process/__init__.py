"""Commands of Orrery that run as other processes: they have another role than their caller."""
