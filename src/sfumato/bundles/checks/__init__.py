"""What verification checks, artifact by artifact and section by section."""
