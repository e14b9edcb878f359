"""What all pages share: layout, figures, drawings, sentences, findings of attacks."""
