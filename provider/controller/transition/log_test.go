package transition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// A logbook keeps what is logged.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info keeps a line.
func (l logbook) Info(said string, values ...any) {
	*l.lines = append(*l.lines, strings.TrimSpace(said+": "+fmt.Sprintln(values...)))
}

// TestLog says once what changed, by whose request, and nothing when nothing did.
func TestLog(t *testing.T) {
	w := newWorld(t)
	lines := []string{}
	w.r.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	w.goes(1, "Pending", "Delivering")
	w.mustLook()
	w.mustLook()
	w.status.Requests = []deploymentv1alpha1.RequestStatus{{Name: "early", Result: "Stale"}, {Name: "again", Result: "Taken"}, {Name: "late", Result: "Waiting"}}
	w.goes(2, "Failed")
	w.mustLook()
	w.mustLook()
	begins := "Phase changed: kind IntentDeployment claim team-a/shop group " + gvk().Group + " from "
	want := []string{
		begins + " phase Pending revision 1 rolloutRequest",
		begins + "Pending phase Delivering revision 1 rolloutRequest",
		begins + "Delivering phase Failed revision 2 rolloutRequest again",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}
