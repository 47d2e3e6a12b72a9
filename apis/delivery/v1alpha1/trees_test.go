package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestEachTree has a delivery with a Site of the present step, and a Site of a later one.
func TestEachTree(t *testing.T) {
	first := v1alpha1.Tree{Site: "edge1", Branch: "main", Path: "a", Files: []byte("123")}
	second := v1alpha1.Tree{Site: "edge2", Branch: "main", Path: "b", Action: v1alpha1.ActionKeep}
	later := v1alpha1.Tree{Site: "edge2", Branch: "main", Path: "b", Files: []byte("12345")}
	p := v1alpha1.GitDeliveryParameters{Trees: []v1alpha1.Tree{first, second}, Later: []v1alpha1.LaterTree{{Tree: later, Revision: 2, Step: 1}}}
	var all []v1alpha1.Tree
	for tree := range p.EachTree() {
		all = append(all, tree)
	}
	if diff := cmp.Diff([]v1alpha1.Tree{first, second, later}, all); diff != "" {
		t.Errorf("EachTree(): the trees of the present step come before those of later steps: -want, +got:\n%s", diff)
	}
	for tree := range p.EachTree() {
		if tree.Site == "edge2" {
			t.Error("EachTree(): a loop that ends at the first tree sees no other tree")
		}
		break
	}
	if got := p.FileBytes(); got != 8 {
		t.Errorf("FileBytes(): the files of both steps count: want 8, got %d", got)
	}
}
