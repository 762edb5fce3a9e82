"""What every command uses: its runner, what it prints, and how it reads what was typed."""
