package main

import "testing"

// TestVocabulary checks the vocabulary itself: each term has advice, and no advice uses a term.
func TestVocabulary(t *testing.T) {
	for _, t1 := range refusedTerms() {
		for _, t2 := range refusedTerms() {
			if word := t2.pattern.FindString(t1.instead); word != "" {
				t.Errorf("the advice %q uses %q", t1.instead, word)
			}
		}
	}
}
