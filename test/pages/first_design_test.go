package pages

import (
	"os"
	"testing"
)

// TestFirstDesignNamesFields holds the page about the first design to fields that exist.
func TestFirstDesignNamesFields(t *testing.T) {
	b, err := os.ReadFile("../../docs/from-the-first-design.md")
	if err != nil {
		t.Fatal(err)
	}
	all, named := schemasByKind(t), 0
	for _, found := range fieldName.FindAllStringSubmatch(string(b), -1) {
		kind := found[1]
		if kind == "" {
			kind = "IntentDeployment"
		}
		if named++; !hasSchemaField(all[kind], found[2]) {
			t.Errorf("%s has no field %s", kind, found[2])
		}
	}
	if named < 30 {
		t.Errorf("the page names %d fields, want at least 30", named)
	}
}
