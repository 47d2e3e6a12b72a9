package deployment

import (
	"fmt"
	"maps"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A repo plays a repository: a branch, the trees that any user ever pushed, and the state.
type repo struct {
	dead, refuses bool
	// gone says that the server does not exist any more.
	gone bool
	// refusal is why the repository takes no trees. Empty means that it takes them.
	refusal xpv2.ConditionReason
	dirs    map[string]string
	objects map[string]bool
	// folders are the ids of the folders of trees, by tree and folder.
	folders map[string]map[string]string
	memory  memory
	// rebuilt are the directories that are known from the status of the object once the record is lost, with their tracks.
	rebuilt []deliveryv1alpha1.DeliveredTree
	// did are the positions in the commits, oldest first.
	did []ledger.Position
	// commits of each try that changed a directory without a commit of another user. Old directories are removed by a commit of their own,
	// which does not count.
	commits map[try]int
	touched bool
	// onRecord is called with the events that are appended to the ledger. It may be nil.
	onRecord func(previous ledger.State, events []ledger.Event, now time.Time)
	// missing is the protection of the ledger that the repository lacks.
	missing protection
	// honours is set if the provider records further events by the mandate of the home.
	honours bool
	// stopsBeforeBranch is set while the provider is killed between its push of the state and that of the branch.
	stopsBeforeBranch bool
	// onCommit is called with the directory that a commit of the branch changes for a position. It may be nil.
	onCommit func(position ledger.Position, path string)
}

// A try is one attempt at one step of one revision.
type try struct {
	epoch, revision int64
	step, attempt   int32
}

func tryOf(p ledger.Position) try { return try{p.Epoch, p.Revision, p.Step, p.Attempt} }

func newRepo() *repo {
	return &repo{dirs: map[string]string{}, objects: map[string]bool{}, folders: map[string]map[string]string{}, commits: map[try]int{}}
}

// deliver plays one reconcile of a GitDelivery, while other deliveries report a head of the ledger. A crash leaves the pushed commits, and no status.
// It returns why an event was illegal.
func (r *repo) deliver(d *deliveryv1alpha1.GitDelivery, knownHead ledger.Head, now time.Time, crash bool) error {
	if r.dead || r.gone {
		reason := deliveryv1alpha1.ReasonUnreachable
		if d.Status.AtProvider.Ledger == nil {
			reason = deliveryv1alpha1.ReasonMemoryUnknown
		}
		setUnready(d, now, reason)
		return nil
	}
	f := r.fence(d, knownHead, now)
	if f.reason == "" {
		f.reason = r.refuseTrees(d.Spec.ForProvider, f)
	}
	r.append(f, now)
	if p := d.Spec.ForProvider; f.reason == "" && (p.Copy == nil || p.Position != nil) {
		r.push(p, f)
	}
	if !crash {
		r.show(d, f, now)
	}
	return f.illegal
}

// fence compares the requested events with the recorded ledger.
func (r *repo) fence(d *deliveryv1alpha1.GitDelivery, knownHead ledger.Head, now time.Time) fence {
	p, observation := d.Spec.ForProvider, d.Status.AtProvider
	if p.Ledger == nil {
		return fenceFollower(r.memory, p)
	}
	identity := fmt.Sprintf("%s %s", d.GetUID(), now.Format("20060102T150405Z"))
	return r.missing.fence(r.memory, r.memory.recorded(r.committed()), *p.Ledger, ptr.Deref(observation.Ledger, ledger.State{}), newerHead(knownHead, r.memory.shown()), identity, now)
}

// newerHead is the newer one of a head and that of the copy of the ledger in a record, which may be nil.
func newerHead(h ledger.Head, r *deliveryv1alpha1.LedgerRecord) ledger.Head {
	if r != nil && r.Copy != nil && r.Copy.Compare(h) > 0 {
		return r.Copy.Head
	}
	return h
}

// committed is the highest revision that commits speak of.
func (r *repo) committed() int64 {
	var out int64
	for _, p := range r.did {
		out = max(out, p.Revision)
	}
	return out
}

// append records events, whatever becomes of the trees.
func (r *repo) append(f fence, now time.Time) {
	if len(f.events) > 0 && r.onRecord != nil {
		r.onRecord(r.memory.recorded(r.committed()), f.events, now)
	}
	if len(f.events) > 0 {
		r.memory.ledger, r.memory.taken = f.next, nil
	}
}

// refuseTrees returns why trees are not written.
func (r *repo) refuseTrees(p deliveryv1alpha1.GitDeliveryParameters, f fence) xpv2.ConditionReason {
	applied := f.applied
	switch {
	case f.isFollowed && p.AskedPosition() != applied.Position():
		return deliveryv1alpha1.ReasonOrderBehind
	case p.Position != nil && *p.Position != applied.Position():
		return deliveryv1alpha1.ReasonInvalid
	case applied.Current == nil:
		return deliveryv1alpha1.ReasonPushing
	case r.isBehind(p, applied.Position()):
		return deliveryv1alpha1.ReasonOrderBehind
	case r.refusal != "":
		return r.refusal
	}
	for _, t := range p.Trees {
		if t.Action == deliveryv1alpha1.ActionRestore && !r.objects[t.Tree] {
			return deliveryv1alpha1.ReasonTreeGone
		}
		if t.Action != deliveryv1alpha1.ActionKeep && r.refuses {
			return deliveryv1alpha1.ReasonPolicyDenied
		}
	}
	return ""
}

// isBehind is true for a tree that would replace another one in the recorded position than its writer saw.
func (r *repo) isBehind(p deliveryv1alpha1.GitDeliveryParameters, position ledger.Position) bool {
	m := r.memory.record
	if m == nil || m.deleted || m.position != position {
		return false
	}
	return slices.ContainsFunc(p.Trees, func(t deliveryv1alpha1.Tree) bool {
		isOther := func(delivered deliveryv1alpha1.DeliveredTree) bool {
			return delivered.Path == t.Path && delivered.Tree != t.Tree && delivered.Tree != t.After
		}
		return t.Action != deliveryv1alpha1.ActionKeep && t.After != "" && slices.ContainsFunc(m.trees, isOther)
	})
}

// push pushes the trees of a position, and records it. The ledger of a home that was left is removed by that, since the record has a copy of the
// valid ledger.
func (r *repo) push(p deliveryv1alpha1.GitDeliveryParameters, f fence) {
	position, changed := f.applied.Position(), false
	delivered := map[string]deliveryv1alpha1.DeliveredTree{}
	for _, t := range r.delivered(p) {
		delivered[t.Path] = t
	}
	var trees []deliveryv1alpha1.DeliveredTree
	for _, t := range p.Trees {
		previous, isKnown := delivered[t.Path]
		delete(delivered, t.Path)
		if t.Action == deliveryv1alpha1.ActionKeep {
			if isKnown {
				trees = append(trees, previous)
			}
			continue
		}
		pushed := deliveryv1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: t.Tree, Revision: position.Revision}
		pushed.Tracks = r.deliverTracks(t, previous, position)
		if isKnown && previous.Tree == pushed.Tree {
			pushed.Revision = previous.Revision
		}
		trees = append(trees, pushed)
		changed = r.commit(t, position) || changed
	}
	if changed && !r.touched {
		r.commits[tryOf(position)]++
	}
	r.touched = r.touched && !changed
	for _, path := range slices.Sorted(maps.Keys(delivered)) {
		if !p.Settled || r.stopsBeforeBranch {
			trees = append(trees, delivered[path])
			continue
		}
		changed = true
		delete(r.dirs, path)
	}
	if changed {
		r.did = append(r.did, position)
	}
	r.memory.record = r.memory.next(f.applied, p.Ledger != nil, trees)
	if f.closes {
		r.memory.ledger, r.memory.taken = ledger.State{}, nil
	}
}

// commit brings a tree to a directory of the branch, and reports whether that changes the directory. The state retains the tree.
func (r *repo) commit(t deliveryv1alpha1.Tree, position ledger.Position) bool {
	r.objects[t.Tree] = true
	if r.dirs[t.Path] == t.Tree || r.stopsBeforeBranch {
		return false
	}
	r.dirs[t.Path] = t.Tree
	if r.onCommit != nil {
		r.onCommit(position, t.Path)
	}
	return true
}

// delivered returns the directories in the record or, if the state was lost, in the commits.
func (r *repo) delivered(p deliveryv1alpha1.GitDeliveryParameters) []deliveryv1alpha1.DeliveredTree {
	if m := r.memory.record; m != nil && m.head.Seq > 0 {
		return m.trees
	}
	if len(r.rebuilt) > 0 {
		return r.rebuilt
	}
	var out []deliveryv1alpha1.DeliveredTree
	for _, t := range p.Trees {
		if id, ok := r.dirs[t.Path]; ok {
			out = append(out, deliveryv1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: id, Revision: r.committed()})
		}
	}
	return out
}

// next is the record after a push.
func (m memory) next(applied ledger.State, isHome bool, trees []deliveryv1alpha1.DeliveredTree) *record {
	out := &record{applied: applied, home: applied.Home, head: applied.Head, position: applied.Position(), trees: trees}
	if !isHome {
		out.copy = new(applied.Essentials())
	}
	if m.record != nil {
		out.revisions = slices.DeleteFunc(slices.Clone(m.record.revisions), func(h deliveryv1alpha1.HistoryEntry) bool { return h.Revision == applied.Current.Number })
	}
	out.revisions = append(out.revisions, deliveryv1alpha1.HistoryEntry{Revision: applied.Current.Number})
	return out
}

// show sets the content of the repository in the status, and whether it equals the request.
func (r *repo) show(d *deliveryv1alpha1.GitDelivery, f fence, now time.Time) {
	observation, m := &d.Status.AtProvider, r.memory
	observation.Ledger, observation.Taken, observation.Record = new(m.recorded(r.committed())), m.taken, r.missing.record(m)
	if observation.Mandate = nil; r.honours && d.Spec.ForProvider.Ledger != nil {
		observation.Mandate = echoOf(d.Spec.ForProvider.Mandate, *observation.Ledger)
	}
	if observation.Record != nil && hasTrackedTree(m.record.trees) {
		observation.Trees = m.record.trees
	}
	if f.reason != "" {
		setUnready(d, now, f.reason)
		return
	}
	if observation.Trees, observation.History, observation.Waiting = nil, nil, nil; m.record != nil {
		observation.Trees, observation.History = m.record.trees, slices.Clone(m.record.revisions)
	}
	observation.Remote = &deliveryv1alpha1.Remote{Commit: "0123456789012345678901234567890123456789"}
	setReady(d, corev1.ConditionTrue, deliveryv1alpha1.ReasonDelivered)
}

// hasTrackedTree is true for trees of which one has tracks.
func hasTrackedTree(trees []deliveryv1alpha1.DeliveredTree) bool {
	return slices.ContainsFunc(trees, func(t deliveryv1alpha1.DeliveredTree) bool { return len(t.Tracks) > 0 })
}

// setUnready says why, and after the timeout that it took too long.
func setUnready(d *deliveryv1alpha1.GitDelivery, now time.Time, reason xpv2.ConditionReason) {
	observation, p := &d.Status.AtProvider, askedPosition(d)
	if w := observation.Waiting; w == nil || w.Revision != p.Revision || w.Step != p.Step || w.Number != p.Attempt {
		observation.Waiting = &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt, StartedAt: metav1.NewTime(now)}
	}
	timeout, _ := time.ParseDuration(d.Spec.ForProvider.DeliveryTimeout)
	timed := reason == deliveryv1alpha1.ReasonUnreachable || reason == deliveryv1alpha1.ReasonMemoryUnknown
	if timed && now.Sub(observation.Waiting.StartedAt.Time) >= timeout {
		reason = deliveryv1alpha1.ReasonDeliveryTimedOut
	}
	setReady(d, corev1.ConditionFalse, reason)
}

// askedPosition is the position that the trees of a delivery belong to.
func askedPosition(d *deliveryv1alpha1.GitDelivery) ledger.Position {
	return ptr.Deref(d.Spec.ForProvider.Position, ledger.Position{})
}

// A conditioned object has conditions, and a generation that they speak of.
type conditioned interface {
	SetConditions(c ...xpv2.Condition)
	GetGeneration() int64
}

// reasonOf the rejection that follows from why a delivery is not Ready. Empty means that none follows.
func reasonOf(d *deliveryv1alpha1.GitDelivery) string {
	c := d.GetCondition(xpv2.TypeReady)
	switch {
	case c.Status != corev1.ConditionFalse:
		return ""
	case c.Reason == deliveryv1alpha1.ReasonDeliveryTimedOut:
		return rolloutv1alpha1.RejectedDeliveryTimedOut
	case c.Reason == deliveryv1alpha1.ReasonPolicyDenied, c.Reason == deliveryv1alpha1.ReasonTreeGone:
		return rolloutv1alpha1.RejectedDeliveryRefused
	}
	return ""
}

// isReady is true for an object that reports its desired state.
func isReady(o interface {
	conditioned
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
},
) bool {
	c := o.GetCondition(xpv2.TypeReady)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
}

func setReady(o conditioned, status corev1.ConditionStatus, reason xpv2.ConditionReason) {
	o.SetConditions(
		xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, Message: "Words.", ObservedGeneration: o.GetGeneration()},
		xpv2.Condition{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess},
	)
}
