package connection

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// TestVisibleFlags compares the flags for the cluster in the help with the flags that people need often.
func TestVisibleFlags(t *testing.T) {
	parser, err := kong.New(&Flags{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range parser.Model.Flags {
		if !f.Hidden && f.Name != "help" {
			got = append(got, f.Name)
		}
	}
	if diff := cmp.Diff([]string{"kubeconfig", "context", "namespace"}, got); diff != "" {
		t.Errorf("Help shows the flags of kubectl that choose a cluster and a namespace: -want, +got:\n%s", diff)
	}
}
