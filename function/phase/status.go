package phase

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

const (
	shortCommit   = 7
	maxUnderstood = 32768
	maxMessage    = 2048
)

// Status projects facts. Last is the last status: nothing but its log of transitions is carried over.
func Status(f *Facts, last *v1alpha1.IntentDeploymentStatus, now metav1.Time) *v1alpha1.IntentDeploymentStatus {
	s := &v1alpha1.IntentDeploymentStatus{
		IntentDigest: f.Digest,
		Understood:   understood(f),
		LiveRevision: f.liveRevision(),
		Update:       f.Update,
		Requests:     f.Requests,
		Delivery:     delivery(f),
	}
	if f.Order != nil {
		s.Revision, s.Renderer = f.Order.Revision, strconv.Itoa(int(f.Order.RendererVersion))
	}
	if f.Order != nil && f.Order.Blueprint != nil {
		s.Blueprint = v1alpha1.BlueprintStatus{Name: f.Order.Blueprint.Name, Digest: f.Order.Blueprint.Digest}
	}
	s.Phase, s.Outcome, s.Message = phaseOf(f)
	s.Message = Fit(s.Message, maxMessage)
	s.Transitions = Log(last, s, failedIn(f), now)
	return s
}

// understood is left out where it would not fit.
func understood(f *Facts) string {
	if len(f.Understood) > maxUnderstood {
		return ""
	}
	return f.Understood
}

// Fit shortens a message to what the schema takes: nothing of a status is written that has a longer one.
func Fit(message string, most int) string {
	characters := []rune(message)
	if len(characters) <= most {
		return message
	}
	return string(characters[:most-1]) + "…"
}

// Recorded is true when every repository holds the order.
func Recorded(f *Facts) bool { return f.recorded() }

// Ready is true when what was asked for succeeded, and holds now.
func Ready(f *Facts) bool {
	p, _, _ := phaseOf(f)
	return p == v1alpha1.PhaseSucceeded && f.delivered() && !f.heldBack()
}

// phaseOf is the table of phases: the first row that matches holds.
func phaseOf(f *Facts) (v1alpha1.Phase, v1alpha1.Outcome, string) {
	switch {
	case f.Problem != nil && f.Problem.Terminal:
		return v1alpha1.PhaseFailed, v1alpha1.OutcomeFailed, f.Problem.Message + goesOn(f)
	case f.Problem != nil:
		return v1alpha1.PhasePending, "", f.Problem.Message + goesOn(f)
	case f.Order == nil:
		return v1alpha1.PhasePending, "", "Nothing was ordered yet."
	case f.recorded():
		return v1alpha1.PhaseSucceeded, v1alpha1.OutcomeSucceeded, succeeded(f)
	}
	return v1alpha1.PhaseDelivering, "", delivering(f)
}

// goesOn says what a frozen order still does.
func goesOn(f *Facts) string {
	if f.Order == nil {
		return ""
	}
	return fmt.Sprintf(" Revision %d stays as it is.", f.Order.Revision)
}

func succeeded(f *Facts) string {
	return "The repository holds the revision." + heldBack(f) + waiting(f.Update)
}

// waiting says which update waits.
func waiting(u v1alpha1.UpdateStatus) string {
	var what []string
	if u.Blueprint != "" {
		what = append(what, "Blueprint "+u.Blueprint)
	}
	if u.Renderer != "" {
		what = append(what, "renderer "+u.Renderer)
	}
	if len(what) == 0 {
		return ""
	}
	return " An update waits: " + strings.Join(what, ", ") + "."
}

// heldBack says why what is asked for now is not what is ordered.
func heldBack(f *Facts) string {
	switch {
	case f.Suspended:
		return " A newer request is held back by spec.suspend."
	case f.Outranked:
		return " A newer version of the function ordered it, and this version leaves it alone."
	}
	return ""
}

func delivering(f *Facts) string {
	if d, c := f.blocked(); d != nil {
		return fmt.Sprintf("GitDelivery %s: %s: %s", d.GetName(), c.Reason, c.Message)
	}
	if f.waiting() {
		return "A Site waits for its cluster."
	}
	return "The revision is on its way to the repository."
}

func failedIn(f *Facts) v1alpha1.Phase {
	if f.Problem == nil {
		return v1alpha1.PhasePending
	}
	return f.Problem.Phase
}

func delivery(f *Facts) v1alpha1.DeliveryStatus {
	out := v1alpha1.DeliveryStatus{Sites: map[string]v1alpha1.SiteStatus{}}
	ready, all := 0, 0
	for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
		o := f.Observed[name]
		for _, t := range f.Desired[name].Spec.ForProvider.Trees {
			s := site(f, t, o)
			out.Sites[t.Site] = s
			all++
			if s.State == v1alpha1.SiteDelivered {
				ready++
			}
		}
		// A commit of another revision is no answer to where this one is.
		if out.GitCommit == "" && o != nil && f.Order != nil && rollout.Recorded(o, *f.Order) {
			out.GitCommit = commit(o)
		}
	}
	if all == 0 {
		return v1alpha1.DeliveryStatus{}
	}
	out.ShortCommit = out.GitCommit[:min(shortCommit, len(out.GitCommit))]
	out.SitesReady = fmt.Sprintf("%d/%d", ready, all)
	out.SyncState = v1alpha1.SyncPending
	if ready == all {
		out.SyncState = v1alpha1.SyncUnobserved
	}
	return out
}

func commit(d *deliveryv1alpha1.GitDelivery) string {
	if d == nil || d.Status.AtProvider.Remote == nil {
		return ""
	}
	return d.Status.AtProvider.Remote.Commit
}

func site(f *Facts, t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) v1alpha1.SiteStatus {
	switch {
	case f.waits(t, d):
		return v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "The Site's cluster is not ready."}
	case d != nil && f.Order != nil && rollout.Delivered(d, *f.Order):
		return v1alpha1.SiteStatus{State: v1alpha1.SiteDelivered, Commit: commit(d)}
	}
	b, c := f.blocked()
	if b != nil && b == d {
		return v1alpha1.SiteStatus{State: blockedState(terminal(c.Reason)), Message: string(c.Reason)}
	}
	return v1alpha1.SiteStatus{State: v1alpha1.SitePending}
}

func blockedState(terminal bool) v1alpha1.SiteState {
	if terminal {
		return v1alpha1.SiteFailed
	}
	return v1alpha1.SitePending
}
