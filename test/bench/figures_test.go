package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/stage"
)

// TestCatalogHasAllFigures compares the figures that can be measured with the catalog.
func TestCatalogHasAllFigures(t *testing.T) {
	all, err := catalog.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	measured, claimed := map[string]string{}, map[string]string{}
	for _, f := range allFigures(&stage.Stage{}) {
		measured[f.Name] = f.Unit
	}
	for _, f := range all {
		claimed[f.Name] = f.Unit
	}
	if diff := cmp.Diff(measured, claimed); diff != "" {
		t.Errorf("Each figure has a row in %s, and each row has code that measures it: -measured, +claimed:\n%s", catalog.File, diff)
	}
}
