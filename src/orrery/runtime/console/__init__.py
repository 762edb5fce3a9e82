"""What every command stands on: its runner, what it prints, and how it reads what was typed."""
