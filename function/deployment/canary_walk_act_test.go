package deployment

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// greetingUnrouted is the greeting of a revision to which no gateway routes a request.
const greetingUnrouted = "says-unrouted"

// greetingsOfWalk are the greetings of revisions. The pods of the broken greeting never start, and Gates fail the rejected greeting.
var greetingsOfWalk = []string{"says-1", "says-2", "says-3", "says-4", "says-rejected", "says-broken", greetingUnrouted}

// randomActs returns the acts of the user of a scenario, from the second revision on. The first revision runs before.
func (w *canaryWalk) randomActs() []canaryAct {
	w.isBroken["says-broken"] = true
	w.rejectedFrom["says-rejected"] = []int32{0, 20, 50, 100}[w.random.IntN(4)]
	acts := []canaryAct{w.editAct(restRounds * 2)}
	for range 1 + w.random.IntN(3) {
		commits := []int{1, 2, 2, 3, 3, 4, maxRounds}[w.random.IntN(7)]
		acts = append(acts, w.randomAct(commits))
	}
	return acts
}

// randomAct returns one of the things that a user may do.
func (w *canaryWalk) randomAct(commits int) canaryAct {
	switch w.random.IntN(9) {
	case 0, 1:
		return canaryAct{commits, "Abort", func(w *canaryWalk) { w.request(rolloutv1alpha1.ActionAbort) }}
	case 2:
		return canaryAct{commits, "Promote full", func(w *canaryWalk) { w.request(rolloutv1alpha1.ActionPromote, allSteps) }}
	case 3:
		return canaryAct{commits, "RollbackTo", func(w *canaryWalk) { w.request(rolloutv1alpha1.ActionRollbackTo, toRevision(w.oldestTarget())) }}
	case 4:
		return canaryAct{commits, "Retry", func(w *canaryWalk) { w.request(rolloutv1alpha1.ActionRetry) }}
	case 5:
		return canaryAct{commits, "autoRollback changes", func(w *canaryWalk) {
			w.in.Spec.RollbackConfig.AutoRollback = new(!ptr.Deref(w.in.Spec.RollbackConfig.AutoRollback, true))
		}}
	}
	return w.editAct(commits)
}

// editAct returns an edit, mostly of the greeting of the pods.
func (w *canaryWalk) editAct(commits int) canaryAct {
	greeting, replicas := greetingsOfWalk[w.random.IntN(len(greetingsOfWalk))], 4
	if w.random.IntN(6) == 0 {
		replicas = 6
	}
	return canaryAct{commits, fmt.Sprintf("edit %s with %d replicas", greeting, replicas), func(w *canaryWalk) { w.edit(greeting, replicas) }}
}

// request asks for something of the current revision.
func (w *canaryWalk) request(requested rolloutv1alpha1.Action, change ...func(*rolloutv1alpha1.RolloutRequest)) {
	w.t.Helper()
	w.asked++
	name := fmt.Sprint("r", w.asked)
	common := []func(*rolloutv1alpha1.RolloutRequest){action(requested), uid(name), func(r *rolloutv1alpha1.RolloutRequest) {
		r.UID, r.CreationTimestamp = types.UID(name), metav1.NewTime(w.in.Now.Time)
	}}
	w.ask(name, w.ledger().Current.Number, append(common, change...)...)
}

// closeRefused removes the requests that were refused, whose answer the controller of requests keeps.
func (w *canaryWalk) closeRefused() {
	for _, r := range w.out.Status.Requests {
		if rolloutv1alpha1.Result(r.Result).Final() && !slices.Contains(w.ledger().Requests, r.UID) {
			w.remove("RolloutRequest", r.Name)
		}
	}
}

// oldestTarget is the oldest revision that a rollback may go to, or the current one, to which none goes.
func (w *canaryWalk) oldestTarget() int64 {
	s := w.ledger()
	out := s.Current.Number
	for _, p := range s.Targets() {
		out = min(out, p.Number)
	}
	return out
}

// greetingOf returns the greeting of a revision's pods, by the commit that brought them.
func (w *canaryWalk) greetingOf(revision int64) string {
	for _, r := range w.repositories {
		if r.memory.record == nil {
			continue
		}
		for _, t := range r.memory.record.trees {
			for _, treeTrack := range t.Tracks {
				if treeTrack.Revision == revision {
					return greetingIn(w.bytes.folders[treeTrack.Tree])
				}
			}
		}
	}
	return ""
}

// greetingIn returns the greeting of the pods of a folder.
func greetingIn(files map[string][]byte) string {
	for _, content := range files {
		i := slices.IndexFunc(greetingsOfWalk, func(g string) bool { return strings.Contains(string(content), g) })
		if i >= 0 {
			return greetingsOfWalk[i]
		}
	}
	return ""
}
