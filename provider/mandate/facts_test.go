package mandate

import (
	"fmt"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// noon is when the tests record.
var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

var claim = rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}

// A scene is revision 2 at two Sites of one repository, after revision 1 was verified there. Its Gate has failed, and the function is silent.
type scene struct {
	testing.TB
	Facts

	recorded, next ledger.State
}

// requestOfAll is the request of all revisions of a scene.
var requestOfAll = ledger.Request{Intent: "intent", Sources: "sources", Scheme: 1, Renderer: 1}

func ordered(number int64, plan ...ledger.Step) ledger.Event {
	r := ledger.Revision{
		Number: number, Request: requestOfAll, Plan: plan,
		Parts: []ledger.Part{{Delivery: "web", ConfigRef: "default", Sites: []string{"edge1", "edge2"}}},
	}
	return ledger.Event{Ordered: &ledger.Ordered{Revision: r}}
}

// verified returns the event that verifies a revision at both Sites.
func verified(revision string) ledger.Event {
	trees := []ledger.SiteTree{{Site: "edge1", ID: revision + "1"}, {Site: "edge2", ID: revision + "2"}}
	return ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}, Trees: trees}}
}

func rejected(reason string) ledger.Event {
	return ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason, Message: "as the test has it"}}}
}

func rolledBack(target int64) ledger.Event {
	return ledger.Event{RolledBack: &ledger.RolledBack{Target: target}}
}

// record returns a state after events.
func record(tb testing.TB, s ledger.State, events ...ledger.Event) ledger.State {
	tb.Helper()
	next, err := ledger.Append(s, noon, events...)
	if err != nil {
		tb.Fatal(err)
	}
	return next
}

// newScene returns the scene, in which the last step of revision 2 has a Gate.
func newScene(tb testing.TB) *scene {
	tb.Helper()
	whole := ledger.Step{Sites: []string{"edge1", "edge2"}, Gate: true}
	return newSceneOf(tb, ordered(1, whole), verified("one"), ordered(2, whole))
}

// newSceneOf returns a scene after events on an opened ledger, whose current revision is delivered to both Sites.
func newSceneOf(tb testing.TB, events ...ledger.Event) *scene {
	tb.Helper()
	opened := ledger.Event{Opened: &ledger.Opened{Ledger: "demo", Home: "default"}}
	c := &scene{TB: tb, recorded: record(tb, ledger.State{}, append([]ledger.Event{opened}, events...)...)}
	c.next = *c.recorded.DeepCopy()
	c.Home, c.Now = newHome(c.recorded), noon
	c.Applied = c.recorded.Position()
	c.Delivered = map[string]v1alpha1.DeliveredTree{}
	for _, site := range []string{"1", "2"} {
		path := "clusters/edge" + site + "/team-a/web"
		c.Delivered[path] = v1alpha1.DeliveredTree{Site: "edge" + site, Path: path, Tree: "two" + site, Revision: c.recorded.Current.Number}
		c.Home.Spec.ForProvider.Trees = append(c.Home.Spec.ForProvider.Trees, v1alpha1.Tree{
			Site: "edge" + site, Branch: "main", Path: path, Action: v1alpha1.ActionDesired, Tree: "two" + site, Files: []byte("files"),
		})
	}
	c.Gates = []rolloutv1alpha1.Gate{newGate("step", c.recorded, rolloutv1alpha1.GateFailed)}
	return c
}

func controlledBy(uid types.UID) metav1.ObjectMeta {
	isController := true
	return metav1.ObjectMeta{Namespace: "team-a", Generation: 3, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Name: "web", UID: uid, Controller: &isController},
	}}
}

func readyCondition(status corev1.ConditionStatus, reason xpv2.ConditionReason, generation int64) []xpv2.Condition {
	return []xpv2.Condition{
		{Type: xpv2.TypeReady, Status: status, Reason: reason, Message: "as the test has it", ObservedGeneration: generation},
		{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess, ObservedGeneration: generation},
	}
}

// newHome returns a home that was delivered, with a mandate for the current revision of a state.
func newHome(s ledger.State) *v1alpha1.GitDelivery {
	d := &v1alpha1.GitDelivery{ObjectMeta: controlledBy("web-uid")}
	d.Name, d.Annotations = "web", map[string]string{composedAs: "web"}
	position := s.Position()
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{
		ClaimRef: claim, Position: &position, Ledger: &v1alpha1.LedgerUpdate{After: s.Head}, DriftPolicy: v1alpha1.DriftReport, DeliveryTimeout: "10m", Settled: true,
		Mandate: &v1alpha1.Mandate{
			Rules: step.Rules, Ledger: s.Ledger, Epoch: s.Epoch, Revision: s.Current.Number, May: []step.Kind{step.KindReject, step.KindRollBack},
			Rollback: v1alpha1.MandatedRollback{AutoRollback: true, MaxRetries: 3, MaxPerHour: 5, AttemptTimeout: "2m"}, Spec: "spec",
		},
	}
	d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Head: s.Head, Position: position}
	d.Status.AtProvider.Ledger = &s
	d.Status.Conditions = readyCondition(corev1.ConditionTrue, v1alpha1.ReasonDelivered, d.Generation)
	return d
}

// newGate returns the Gate of the position of a state, with a verdict.
func newGate(name string, s ledger.State, v rolloutv1alpha1.GateVerdict) rolloutv1alpha1.Gate {
	g := rolloutv1alpha1.Gate{ObjectMeta: controlledBy("web-uid")}
	position := s.Position()
	g.Name, g.Annotations = name, map[string]string{evidence.AnnotationRevision: evidence.RevisionID(s)}
	g.Spec.ForProvider.ClaimRef, g.Spec.ForProvider.Position = claim, &position
	g.Status.AtProvider.Position, g.Status.AtProvider.Verdict = &position, v
	status := corev1.ConditionFalse
	if v == rolloutv1alpha1.GatePassed {
		status = corev1.ConditionTrue
	}
	g.Status.Conditions = readyCondition(status, "Judged", g.Generation)
	return g
}

// newSync returns a SiteSync that expects the trees of a home at the position of a state.
func newSync(home *v1alpha1.GitDelivery, s ledger.State, status corev1.ConditionStatus, reason xpv2.ConditionReason) v1alpha1.SiteSync {
	out := v1alpha1.SiteSync{ObjectMeta: controlledBy("web-uid")}
	position := s.Position()
	out.Name = "web-sync"
	out.Spec.ForProvider.ClaimRef, out.Spec.ForProvider.Position = claim, &position
	for _, t := range home.Spec.ForProvider.Trees {
		if t.Action != v1alpha1.ActionKeep {
			out.Spec.ForProvider.Sites = append(out.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: t.Site, Path: t.Path, Tree: t.Tree})
		}
	}
	out.Status.AtProvider.Position = new(position)
	out.Status.Conditions = readyCondition(status, reason, out.Generation)
	return out
}

// describe returns events as short texts.
func describe(events []ledger.Event) []string {
	var out []string
	for _, e := range events {
		switch {
		case e.Judged != nil:
			out = append(out, string(e.Judged.Verdict.Result)+" "+e.Judged.Verdict.Reason)
		case e.Withdrawn != nil:
			out = append(out, "Withdrawn")
		case e.RolledBack != nil:
			out = append(out, "RolledBack")
		case e.Restored != nil:
			out = append(out, "Restored")
		case e.Advanced != nil:
			out = append(out, fmt.Sprint("Advanced ", e.Advanced.Stage))
		default:
			out = append(out, "other")
		}
	}
	return out
}

const composedAs = "crossplane.io/composition-resource-name"

func v1ReasonOf(reason string) xpv2.ConditionReason { return xpv2.ConditionReason(reason) }

// rejectBefore adds revisions to the history that were rejected in the hour before noon.
func (c *scene) rejectBefore(n int) {
	for i := range n {
		timestamp := metav1.NewTime(noon.Add(-time.Duration(i+1) * time.Minute))
		c.next.History = append(c.next.History, ledger.Past{
			Number: int64(100 + i), EndedAt: timestamp, Verdict: &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"},
		})
	}
}

// holdTarget lets the directories have the trees of revision 1.
func (c *scene) holdTarget() {
	for path, d := range c.Delivered {
		d.Tree, d.Revision = "one"+d.Site[len("edge"):], 1
		c.Delivered[path] = d
	}
}

// addPassed adds a Gate of the step that passed, with a name and a name in the composition.
func (c *scene) addPassed(name, composed string) {
	g := newGate(name, c.recorded, rolloutv1alpha1.GatePassed)
	g.Annotations[composedAs] = composed
	c.Gates = append(c.Gates, g)
}

// restore sets attempt 1 in the spec, as the function does, with its trees delivered.
func (c *scene) restore() {
	c.Helper()
	c.goOn(rejected("GateFailed"), rolledBack(1))
	position := c.recorded.Position()
	c.holdTarget()
	c.Applied = position
	p := &c.Home.Spec.ForProvider
	p.Position, c.Home.Status.AtProvider.Record.Position = new(position), position
	for i, tree := range p.Trees {
		p.Trees[i].Action, p.Trees[i].Tree, p.Trees[i].Files = v1alpha1.ActionRestore, "one"+tree.Site[len("edge"):], nil
	}
}

// withdraw lets a user roll revision 2 back, which makes revision 3.
func (c *scene) withdraw() {
	c.Helper()
	c.goOn(verified("two"), ledger.Event{Withdrawn: &ledger.Withdrawn{
		Target: 1, Message: "as the test has it", RequestRef: ledger.RequestReference{Name: "back", UID: "back-uid"},
	}})
	c.Applied = c.recorded.Position()
	c.Applied.Revision = 2
}
