package deployment

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/test/soak"
)

const (
	// silentRounds is for how many rounds a function is not called in a short silence. Pods that never come take longer.
	silentRounds = 3

	// breakerRounds is for how many rounds a circuit breaker is open.
	breakerRounds = 30

	// silentQuiet is after how many rounds without a commit a silent function is called: a part of the story may need it.
	silentQuiet = 9
)

// forwardEvents is how many events some story takes a canary forward by mandates at the least.
const forwardEvents = 4

// drawSilence draws how long a function is not called at a time: for a few rounds, while a circuit breaker is open, or from the event by which a revision begins
// to its end.
func (w *canaryWalk) drawSilence() int {
	return []int{silentRounds, breakerRounds, maxRounds}[w.silences.IntN(3)]
}

// beginMandates lets the provider act by mandates, with faults in stories of one repository.
func (w *canaryWalk) beginMandates(seed uint64) {
	w.silences, w.followLedger = rand.New(rand.NewPCG(seed, 24)), w.observeByLedger
	w.silenceLimit = w.drawSilence()
	if !w.hasSecondRepository() {
		w.faults = newMandateFaults(seed)
	}
}

// hasSecondRepository is true in a story of two repositories.
func (w *canaryWalk) hasSecondRepository() bool {
	return slices.ContainsFunc(w.objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "ClusterProviderConfig" && o.GetName() == "other"
	})
}

// isSilent is true for a round in which the function is not called, in a story with mandates. It is called while a user acts, or waits for an answer, and where
// nothing happens without it.
func (w *canaryWalk) isSilent() bool {
	isNeeded := len(w.events) == 0 || w.isActNear() || w.isUnanswered() || w.quiet >= silentQuiet || w.awaitsFollower()
	if w.silences == nil || isNeeded || w.silent == w.silenceLimit || w.silenceLimit == silentRounds && w.silences.IntN(2) == 0 {
		w.silent = 0
		return false
	}
	w.silent++
	w.notef("the function is silent")
	return true
}

// awaitsFollower is true while the spec of some other repository has an earlier revision than the ledger: a provider follows the home from the first spec of a
// revision on.
func (w *canaryWalk) awaitsFollower() bool {
	w.t.Helper()
	revision, behind := int64(0), int64(math.MaxInt64)
	for name, o := range w.in.Observed {
		if o.GetKind() != "GitDelivery" {
			continue
		}
		d := w.decode(o)
		if current := w.repository(w.url(name)).memory.ledger.Current; d.Spec.ForProvider.Ledger != nil && current != nil {
			revision = max(revision, current.Number)
		}
		if position := d.Spec.ForProvider.Position; d.Spec.ForProvider.Copy != nil && position != nil {
			behind = min(behind, position.Revision)
		}
	}
	return behind < revision
}

// concludeByMandate lets the provider record the next events by the mandate of the home, bring the directories to the new state of the ledger, and say that it acts by
// the mandate. It decides by its own rules.
func (w *canaryWalk) concludeByMandate() {
	w.t.Helper()
	w.followed = map[string]deliveryv1alpha1.Tree{}
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		o := w.in.Observed[name]
		if o.GetKind() != "GitDelivery" || w.silences == nil {
			continue
		}
		d, r := w.decode(o), w.repository(w.url(name))
		f := w.ownFacts(name, d, r)
		if r.memory.record == nil || !mandate.CanMoveRequests(d.Spec.ForProvider, f.Delivered) {
			continue
		}
		if d.Spec.ForProvider.Ledger == nil {
			continue
		}
		w.concludeWithFault(name, d, r, f)
	}
	w.followHomes()
}

// followHomes lets the provider bring the other repositories to the ledger that the status of their home shows, in a story with mandates.
func (w *canaryWalk) followHomes() {
	w.t.Helper()
	var all []deliveryv1alpha1.GitDelivery
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		if o := w.in.Observed[name]; w.silences != nil && o.GetKind() == "GitDelivery" {
			all = append(all, *w.composedDelivery(name, o))
		}
	}
	for i := range all {
		if d := &all[i]; d.Spec.ForProvider.Copy != nil {
			w.followHome(xcrd.GetCompositionResourceName(d), d, all)
		}
	}
}

// followHome brings the repository of a delivery to the ledger that the status of its home shows, by the rules of the provider.
func (w *canaryWalk) followHome(name string, d *deliveryv1alpha1.GitDelivery, all []deliveryv1alpha1.GitDelivery) {
	w.t.Helper()
	r := w.repository(w.url(name))
	p, isAhead := w.followedSpec(name, d, all)
	if d.Status.AtProvider.Follows = nil; isAhead {
		for _, t := range p.Trees {
			w.followed[t.Site] = t
		}
		r.push(p, fence{applied: *p.Copy})
		r.show(d, fence{}, w.in.Now.Time)
		d.Status.AtProvider.Follows = &deliveryv1alpha1.FollowStatus{Position: *p.Position, AttemptTimeout: p.DeliveryTimeout}
		w.ahead++
	}
	w.setStatus(name, &d.Status)
}

// followedSpec returns the parameters of a delivery at the ledger of its home, and whether its directories get trees that its spec does not request.
func (w *canaryWalk) followedSpec(
	name string, d *deliveryv1alpha1.GitDelivery, all []deliveryv1alpha1.GitDelivery,
) (deliveryv1alpha1.GitDeliveryParameters, bool) {
	w.t.Helper()
	r, home := w.repository(w.url(name)), mandate.HomeOf(d, all)
	if r.memory.record == nil || home == nil {
		return d.Spec.ForProvider, false
	}
	f := w.ownFacts(name, d, r)
	f.Home, f.Self, f.Copy, f.Followers = home, d, r.memory.record.copy, followersAmong(all)
	if !mandate.CanMoveRequests(d.Spec.ForProvider, f.Delivered) {
		return d.Spec.ForProvider, false
	}
	return f.FollowHome(d.Spec.ForProvider)
}

// followersAmong returns the deliveries to other repositories than the home.
func followersAmong(all []deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.GitDelivery {
	return slices.DeleteFunc(slices.Clone(all), func(d deliveryv1alpha1.GitDelivery) bool { return d.Spec.ForProvider.Copy == nil })
}

// composedDelivery returns an observed delivery with its controller, and with its name in the composition.
func (w *canaryWalk) composedDelivery(name string, o *unstructured.Unstructured) *deliveryv1alpha1.GitDelivery {
	w.t.Helper()
	d := w.decode(o).DeepCopy()
	d.OwnerReferences, d.Annotations = ownersOfWalk(), map[string]string{xcrd.AnnotationKeyCompositionResourceName: name}
	return d
}

// concludeWithFault lets the provider conclude in a home, up to the fault of the round.
func (w *canaryWalk) concludeWithFault(name string, d *deliveryv1alpha1.GitDelivery, r *repo, f mandate.Facts) {
	w.t.Helper()
	if w.faults.isBeforePush() {
		return
	}
	w.concludeHome(d, r, f)
	if w.faults.isKilled() {
		return
	}
	d.Status.AtProvider.Mandate = f.Echo(r.memory.ledger)
	if w.faults.is(faultEchoLost) {
		d.Status.AtProvider.Mandate = nil
	}
	w.setStatus(name, &d.Status)
	if w.faults.is(faultSecondLeader) {
		w.concludeHome(d, r, w.ownFacts(name, d, r)) // It lost the race, and decides again on the new tip. Its status is refused.
	}
}

// concludeHome records the next events of one home, and pushes the trees.
func (w *canaryWalk) concludeHome(d *deliveryv1alpha1.GitDelivery, r *repo, f mandate.Facts) {
	w.t.Helper()
	recorded, reserved := r.memory.ledger, r.memory.taken
	next, events := f.Conclude(recorded, recorded)
	if len(events) > 0 {
		w.checkCover(d, recorded)
		if reserved == nil {
			reserved = &recorded.Head
		}
		r.append(fence{next: next, events: events}, w.in.Now.Time)
		r.memory.taken = reserved
		w.mandated += len(events)
		for _, e := range events {
			if e.Advanced != nil && !next.IsRejected() || next.IsVerified() {
				w.advanced++
			}
		}
	}
	if !mandate.IsAhead(d.Spec.ForProvider, next) {
		return
	}
	p := f.Follow(d.Spec.ForProvider, recorded, next)
	for _, t := range p.Trees {
		w.followed[t.Site] = t
	}
	r.push(p, fence{applied: next})
	if !w.faults.isKilled() {
		r.show(d, fence{}, w.in.Now.Time)
	}
}

// readDeliveries keeps the statuses of deliveries as a reconcile reads them.
func (w *canaryWalk) readDeliveries() {
	w.read = map[string]*deliveryv1alpha1.GitDeliveryStatus{}
	for name, o := range w.in.Observed {
		if o.GetKind() == "GitDelivery" {
			w.read[name] = w.decode(o).Status.DeepCopy()
		}
	}
}

// observeByLedger returns the parameters by which the provider observes the Sites: by the ledger that the home shows, with the routes and the Deployments of
// the commits.
func (w *canaryWalk) observeByLedger(s *deliveryv1alpha1.SiteSync) deliveryv1alpha1.SiteSyncParameters {
	w.t.Helper()
	sync, deliveries := s.DeepCopy(), []deliveryv1alpha1.GitDelivery{}
	sync.OwnerReferences = ownersOfWalk()
	for name, o := range w.in.Observed {
		if o.GetKind() == "GitDelivery" {
			deliveries = append(deliveries, *w.composedDelivery(name, o))
		}
	}
	p, isAhead := mandate.FollowLedger(sync, deliveries)
	if !isAhead {
		return p
	}
	w.observed++
	for _, site := range p.Sites {
		if site.Traffic == nil {
			continue
		}
		files, err := directories.ReadTrackFiles(w.bytes.trees[site.Tree])
		if err != nil {
			w.t.Fatal(err)
		}
		files.AddTo(site.Traffic)
	}
	return p
}

// ownersOfWalk are the owners of all objects of a canary walk.
func ownersOfWalk() []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: "IntentDeployment", Name: "shop", UID: "shop-uid", Controller: new(true)}}
}

// ownFacts returns the facts of the provider about a delivery: its repository, and the objects of the same controller. Deliveries are as their last reconcile
// read them.
func (w *canaryWalk) ownFacts(name string, d *deliveryv1alpha1.GitDelivery, r *repo) mandate.Facts {
	w.t.Helper()
	owners := ownersOfWalk()
	home := d.DeepCopy()
	home.Status = *w.read[name].DeepCopy()
	home.OwnerReferences, home.Annotations = owners, map[string]string{xcrd.AnnotationKeyCompositionResourceName: name}
	f := mandate.Facts{Home: home, Delivered: map[string]deliveryv1alpha1.DeliveredTree{}, Now: w.in.Now.Time}
	f.Unobserved, f.IsGuardRead = map[string]bool{}, true
	if m := d.Spec.ForProvider.Mandate; m != nil && !isUnchanged(*m, w.in.Spec) {
		f.Guard = deliveryv1alpha1.HoldClaimChanged
	}
	if m := r.memory.record; m != nil {
		f.Applied = m.position
		for _, t := range m.trees {
			f.Delivered[t.Path] = t
		}
	}
	for witness, o := range w.witnesses() {
		switch o.GetKind() {
		case "GitDelivery":
			d := w.composedDelivery(witness, o)
			if status := w.read[witness]; d.Spec.ForProvider.Copy != nil && status != nil {
				d.Status = *status.DeepCopy()
				f.Followers = append(f.Followers, *d)
			}
		case "SiteSync":
			s := deliveryv1alpha1.SiteSync{}
			w.convert(o, &s)
			s.OwnerReferences = owners
			f.Syncs = append(f.Syncs, s)
		case "Gate":
			g := rolloutv1alpha1.Gate{}
			w.convert(o, &g)
			g.OwnerReferences = owners
			f.Gates = append(f.Gates, g)
		}
	}
	w.addForeign(&f)
	f.Requests = mandate.RequestsOf(home, w.openRequests())
	return f
}

// openRequests returns the RolloutRequests of the user.
func (w *canaryWalk) openRequests() []rolloutv1alpha1.RolloutRequest {
	w.t.Helper()
	var out []rolloutv1alpha1.RolloutRequest
	for _, o := range w.objects {
		if o.GetKind() == "RolloutRequest" {
			r := rolloutv1alpha1.RolloutRequest{}
			w.convert(o, &r)
			out = append(out, r)
		}
	}
	return out
}

// TestCanaryWalkMandates plays random stories of deployments in tracks twice: once the function decides all, and once it is silent in some rounds, or from the
// event by which a revision begins to its end, and a provider concludes by mandates, among its own faults. Both come to the same events, commits, files and
// weights, and no position has more commits.
func TestCanaryWalkMandates(t *testing.T) {
	rounds, random := soak.Random(t, canaryWalks, manyCanaryWalks/5)
	renderer := &rememberingRenderer{Renderer: render.NewRenderer()}
	mandated, advanced, observed, ahead, faults := make([]int, rounds), make([]int, rounds), make([]int, rounds), make([]int, rounds), make([]*mandateFaults, rounds)
	t.Run("Stories", func(t *testing.T) {
		for i, seed := range randomSeeds(random, rounds) {
			t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
				t.Parallel()
				w := tellWithoutAndWithMandates(t, renderer, seed)
				mandated[i], advanced[i], observed[i], ahead[i], faults[i] = w.mandated, w.advanced, w.observed, w.ahead, w.faults
			})
		}
	})
	if minimum := slices.Max(mandated); minimum < 3 {
		t.Errorf("Some canary loses its requests by the mandate: want at least 3 events in a story, got %d", minimum)
	}
	if limit := slices.Max(advanced); limit < forwardEvents {
		t.Errorf("Some canary takes its steps by the mandate: want at least %d events in a story, got %d", forwardEvents, limit)
	}
	if slices.Max(observed) == 0 {
		t.Error("Some SiteSync observes a later position than its spec has: got none")
	}
	if slices.Max(ahead) == 0 {
		t.Error("Some repository follows its home beyond its spec: got none")
	}
	checkFaults(t, faults)
}

// tellWithoutAndWithMandates plays the story of a seed without mandates and with them, and returns the latter.
func tellWithoutAndWithMandates(t *testing.T, renderer compile.Renderer, seed uint64) *canaryWalk {
	t.Helper()
	calm := newCanaryWalk(t, renderer, seed, false)
	if broken := calm.playScenario(); broken != "" {
		t.Fatalf("\nwithout mandates: %s\n%s", broken, calm)
	}
	w := newCanaryWalk(t, renderer, seed, false)
	w.beginMandates(seed)
	if broken := w.playScenario(); broken != "" {
		t.Fatalf("\nwith mandates: %s\n%s\nwithout them:\n%s", broken, w, calm)
	}
	if diff := calm.diff(w); diff != "" {
		t.Fatalf("\nN8: the story comes to something else with mandates: -without, +with:\n%s\n%s\nwithout them:\n%s", diff, w, calm)
	}
	if broken := w.checkBranch(calm); broken != "" {
		t.Fatalf("\n%s\n%s\nwithout mandates:\n%s", broken, w, calm)
	}
	return w
}
