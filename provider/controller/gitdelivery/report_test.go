package gitdelivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/repository"
)

// A logbook keeps what is logged, without commits, which differ.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info keeps a line.
func (l logbook) Info(said string, values ...any) {
	for i := 0; i+1 < len(values); i += 2 {
		switch values[i] {
		case "commit":
			said += fmt.Sprintf(" commit=%t", values[i+1] != "")
		case "group", "delivery":
		default:
			said += fmt.Sprintf(" %v=%v", values[i], values[i+1])
		}
	}
	*l.lines = append(*l.lines, said)
}

// TestLog follows a revision that is verified and one that is rolled back, with a look and a restart after each step.
func TestLog(t *testing.T) {
	w := newWorld(t)
	lines := []string{}
	w.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	still := func() {
		t.Helper()
		n := len(lines)
		w.restart()
		w.pass(inTime)
		w.reconcile("web")
		w.reconcile("web")
		if diff := cmp.Diff([]string{}, lines[n:]); diff != "" {
			t.Errorf("a look that finds nothing new: -want, +got:\n%s", diff)
		}
	}
	w.create(w.first())
	w.reconcile("web")
	still()
	w.ask(verified(order(1, "a")), desired(t, "edge1", webAtE1, "a"))
	still()
	asked := order(2, "b")
	asked.RequestRef = &ledger.RequestReference{Name: "again", UID: "u"}
	w.ask(asked, desired(t, "edge1", webAtE1, "b"))
	still()
	w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
	w.expect("web", v1alpha1.ReasonDelivered)
	still()
	one, two := "claim=team-a/web revision=1 step=0 request=", "claim=team-a/web revision=2 step=0 request="
	want := []string{
		loggedDelivered + " " + one + stateAt(order(1, "a")).Current.Request.Digest() + " commit=true",
		loggedVerdict + " " + one + stateAt(order(1, "a")).Current.Request.Digest() + " commit=true verdict=Verified reason=",
		loggedDelivered + " " + two + stateAt(order(2, "b")).Current.Request.Digest() + " commit=true rolloutRequest=again",
		loggedRollback + " " + two + stateAt(order(2, "b")).Current.Request.Digest() + " commit=true rolloutRequest=again verdict=Rejected reason=GateFailed attempt=1 target=1",
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(lines, "\n")); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

func TestConcealedFailureIsLogged(t *testing.T) {
	lines := []string{}
	logConcealed(logbook{Logger: logging.NewNopLogger(), lines: &lines})(repository.ConcealedFailure{Namespace: "team-a", URL: "https://10.0.0.1/x.git", Cause: "connection refused"})
	want := []string{"Cannot read a repository at a private address namespace=team-a url=https://10.0.0.1/x.git cause=connection refused"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("The administrator finds the cause in the log.\nlogConcealed(...): -want, +got:\n%s", diff)
	}
}
