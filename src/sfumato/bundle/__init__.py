"""What is published: recoded rows, the bundle on disk, and the manifest that states its claims."""
