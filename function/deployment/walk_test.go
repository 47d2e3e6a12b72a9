package deployment

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/render"
)

// A walk is one story: the function at work among faults.
type walk struct {
	*world
	ctx  context.Context
	seed uint64
	// rng are the random choices of a scenario, and aside the random choices of special scenarios, so that the others stay unchanged.
	rng, aside *rand.Rand
	// shifts are the random choices of the homes of ledgers, and moves is set if homes move.
	shifts *rand.Rand
	moves  bool
	// gitBackups are copies of repositories at some time.
	gitBackups map[string]*repo

	deliveries map[string]*deliveryv1alpha1.GitDelivery
	sync       *deliveryv1alpha1.SiteSync
	gates      map[string]*rolloutv1alpha1.Gate

	repos          map[string]*repo
	sites          map[string]*player
	qualities      map[string]quality
	prometheusDown bool
	measurements   map[string]int32

	now           time.Time
	needs         []catalog.Need
	past          []moment
	truth         *truth
	trace         []string
	isNoted       bool
	asked, rounds int
	lost          bool
	wiped         bool
	last          *reply
	// texts are the objects of the catalog as they are answered, and catalogued counts how often it changed.
	texts      map[*unstructured.Unstructured][]byte
	catalogued int
	// answered are the needs that were answered last, when the catalog had changed so often.
	answered   []catalog.Need
	answeredAt catalogVersion
	// consulted counts the calls that the function was not spared.
	consulted int
	// repeated counts the calls that were made twice.
	repeated uint64
	recent   *call
	born     int
	// wanted are the specs of RolloutRequests, by uid.
	wanted map[string]rolloutv1alpha1.RolloutRequestSpec
	// cores are versions of the function.
	cores []*Core
	saved *backup
	// busy says that people meddle with the deployment all the time.
	busy bool
	// lasting says that not all trouble heals at the end.
	lasting bool
	// fresh is set if the applied objects are computed from the current objects.
	fresh bool
	// unmeasurable is the reason why Gates cannot measure. Empty means that they can.
	unmeasurable xpv2.ConditionReason
	// begun is when Gates began to measure.
	begun map[string]time.Time
	// missing is the protection that this scenario lacks.
	missing protection
	// honours is set if the provider records the next events by mandates.
	honours bool
	// followed counts how often another repository than the home restored trees before its spec asked for that, and observed how often the SiteSync observed a
	// later position than that of its spec.
	followed, observed int
	// stepped counts how often another repository than the home got the trees of a later wave before its spec asked for them.
	stepped int
	// silent is for how many of its turns the function is not called.
	silent int
}

// A moment is the result of a stale read.
type moment struct {
	deliveries map[string]*deliveryv1alpha1.GitDelivery
	gates      map[string]*rolloutv1alpha1.Gate
	sync       *deliveryv1alpha1.SiteSync
	spec       deploymentv1alpha1.IntentDeploymentSpec
	status     deploymentv1alpha1.IntentDeploymentStatus
}

// plain renders next to nothing, in no time.
type plain struct {
	// line that a version of it adds.
	line string
}

// versions are versions of the function: one version, the next version, which makes the same trees, and a version that makes other trees.
func versions() []*Core {
	out := []*Core{New(plain{}), New(plain{}, WithRendererSpread(0)), New(plain{line: "# new\n"}, WithRendererSpread(0))}
	for i, c := range out {
		c.version += int32(i)
	}
	return out
}

// Build returns files that say how many replicas there are, and one parameter of the Site.
func (p plain) Build(_ context.Context, in render.Input) (tree.Files, error) {
	n := in.Intent.Replicas
	return tree.Files{
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [configmap.yaml]\n"),
		"configmap.yaml": fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: team-a}\ndata: {replicas: %q, p: %q}\n%s",
			fmt.Sprint(n), in.Site.Parameters["p"], p.line),
	}, nil
}

// newWalk begins a story with three Sites in two repositories.
func newWalk(t *testing.T, cores []*Core, seed uint64) *walk {
	t.Helper()
	w := &walk{
		world: newWorld(t), ctx: t.Context(), seed: seed, rng: rand.New(rand.NewPCG(seed, seed)), aside: rand.New(rand.NewPCG(seed, ^seed)),
		shifts: rand.New(rand.NewPCG(^seed, seed)), moves: seed%10 == 3 || seed%10 == 9, gitBackups: map[string]*repo{},
		deliveries: map[string]*deliveryv1alpha1.GitDelivery{}, gates: map[string]*rolloutv1alpha1.Gate{},
		repos: map[string]*repo{}, sites: map[string]*player{}, qualities: map[string]quality{},
		isNoted: true, measurements: map[string]int32{}, now: time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC), truth: newTruth(),
		texts:  map[*unstructured.Unstructured][]byte{},
		wanted: map[string]rolloutv1alpha1.RolloutRequestSpec{}, begun: map[string]time.Time{},
	}
	w.core, w.cores = cores[0], cores
	w.repos["default"], w.repos["other"] = w.newRepo(), w.newRepo()
	otherConfig := w.object("ClusterProviderConfig", "default").DeepCopy()
	otherConfig.SetName("other")
	w.objects = append(w.objects, otherConfig)
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	third := w.object("Site", "edge1").DeepCopy()
	third.SetName("edge3")
	w.objects = append(w.objects, third)
	w.set("Site", "edge3", "clusters/edge3", "spec", "repository", "path")
	w.set("Site", "edge2", map[string]any{"kind": "ClusterProviderConfig", "name": "other"}, "spec", "repository", "providerConfigRef")
	w.observe("edge1", "edge2", "edge3")
	w.measured()
	w.set("Site", "edge3", "http://prometheus", "spec", "metrics", "prometheus", "address")
	for _, name := range []string{"edge1", "edge2", "edge3"} {
		w.sites[name] = &player{runs: map[string]string{}, tried: map[string]string{}}
	}
	w.in.Spec.Default()
	if w.chance(2) {
		w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": "< 500ms"}
	}
	if w.chance(5) {
		w.set("Site", "edge3", map[string]any{"clusterRef": map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "namespace": "infra", "name": "c"}}, "spec", "cluster")
		w.sites["edge3"].clustered, w.sites["edge3"].built = true, w.chance(2)
	}
	if w.chance(3) {
		w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
	}
	w.wish(2)
	w.vary(seed)
	return w
}

// vary makes some scenarios special: in one some Sites do not report their running tree, and in another users never wait, and few
// revisions are rolled back within an hour.
func (w *walk) vary(seed uint64) {
	if w.aside.IntN(6) == 0 {
		for _, name := range slices.Sorted(maps.Keys(w.sites)) {
			if s := w.sites[name]; !s.clustered && w.aside.IntN(2) == 0 {
				s.untold = true
				w.set("Site", name, map[string]any{"type": "None", "unobservedIsLive": true}, "spec", "engine")
			}
		}
	}
	if w.busy = seed%10 == 6; w.busy {
		w.in.Spec.RollbackConfig.MaxPerHour = new(1 + w.aside.Int32N(2))
	}
}

// chance is true once in n times.
func (w *walk) chance(n int) bool { return w.rng.IntN(n) == 0 }

// wish sets a number of replicas. Their number determines the fate of the revision.
func (w *walk) wish(n int) {
	w.say(fmt.Sprintf(`{"service": "shop", "sites": ["edge1", "edge2", "edge3"], "replicas": %d}`, n))
}

// qualityOf a tree that says so many replicas: one of four is slow, and one of five breaks engines.
func qualityOf(n int) quality { return quality{Slow: n%4 == 0, Breaks: n%5 == 0} }

// A described text is made where it is noted only, since that takes time.
type described func() string

// String makes the text.
func (d described) String() string { return d() }

// notef logs an event, in a scenario with a log.
func (w *walk) notef(format string, args ...any) {
	if !w.isNoted {
		return
	}
	if s := fmt.Sprintf(format, args...); len(w.trace) == 0 || w.trace[len(w.trace)-1] != s {
		w.trace = append(w.trace, s)
	}
}

// judge checks the answer of a call.
func (w *walk) judge(m moment, out *reply, fresh bool) {
	previous := m.status.Transitions
	for i, tr := range out.Status.Transitions {
		if i < len(previous) && len(out.Status.Transitions) < 20 {
			continue
		}
		if tr.To != deploymentv1alpha1.PhasePending && !slices.Contains(deploymentv1alpha1.PhaseChanges()[tr.From], tr.To) {
			w.truth.violatedf("%s to %s is not an edge", tr.From, tr.To)
		}
	}
	if out.Status.Phase == deploymentv1alpha1.PhaseSucceeded && out.Status.Outcome == deploymentv1alpha1.OutcomeSucceeded && fresh {
		w.mustBeVerified(out.Status.Revision)
	}
	desired := out.deliveries()
	if out.Ready && fresh {
		w.mustRun("Ready", desired)
		w.mustSay(m, "Ready", out)
	}
	w.judgeProposal(m, desired, fresh)
	if w.chance(20) {
		repeated := w.consult(m, w.again())
		if w.brief(repeated) != w.brief(out) || repeated.Status.Message != out.Status.Message {
			w.truth.violatedf("the same input, another answer: %s, then %s", w.brief(out), w.brief(repeated))
		}
	}
}

// callsPerRun is the number of calls without an API server for each call with objects as an API server has them, which takes as long as a dozen others.
const callsPerRun = 12

// again is how a call is repeated: mostly as it was made, and sometimes with objects as the API server has them.
func (w *walk) again() func(Input, moment) (*reply, error) {
	if w.repeated++; (w.seed+w.repeated)%callsPerRun == 0 {
		return w.run
	}
	return w.runStages
}

// mustRun checks that every Site once ran its desired tree.
func (w *walk) mustRun(claim string, desired map[string]*deliveryv1alpha1.GitDelivery) {
	for _, d := range desired {
		if d.Spec.ForProvider.Position == nil {
			continue // It brings nothing: its repository was left.
		}
		for _, t := range d.Spec.ForProvider.Trees {
			if position := askedPosition(d); t.Action == deliveryv1alpha1.ActionDesired && !w.truth.ran[run{goalOf(position), t.Site, ""}] {
				w.truth.violatedf("%s, and %s never ran revision %d", claim, t.Site, position.Revision)
			}
		}
	}
}

// newRepo returns a repository that reports its records to the truth.
func (w *walk) newRepo() *repo {
	r := newRepo()
	r.onRecord, r.missing, r.honours = w.record, w.missing, w.honours
	return r
}

// loses records that a repository lost its records.
func (w *walk) loses() { w.lost, w.truth.lossy = true, true }

// mustBeVerified checks that a revision which succeeded was recorded to be verified.
func (w *walk) mustBeVerified(revision int64) {
	if !w.truth.verified[revision] {
		w.truth.violatedf("revision %d succeeded, and was never recorded to be verified", revision)
	}
}

// mustSay checks that every object that is to stay reports its desired state.
func (w *walk) mustSay(m moment, claim string, out *reply) {
	for name, d := range m.deliveries {
		if out.objects[name] != nil && !isReady(d) && !isRebasing(d) {
			w.truth.violatedf("%s, and %s is not", claim, name)
		}
	}
	if m.sync != nil && !isReady(m.sync) {
		w.truth.violatedf("%s, and the SiteSync is not", claim)
	}
}

// isRebasing is true for a home that was Ready before it got a request to record an equivalent request alone. No Site changes, and so that makes no
// deployment unready: scenario 30432 is an example.
func isRebasing(d *deliveryv1alpha1.GitDelivery) bool {
	requested, c := d.Spec.ForProvider.Ledger, d.GetCondition(xpv2.TypeReady)
	return requested != nil && len(requested.Events) == 1 && requested.Events[0].Rebased != nil && c.Status == corev1.ConditionTrue && c.ObservedGeneration == d.GetGeneration()-1
}

// apply applies the answer, up to a fault. Objects that the call did not see are not deleted.
func (w *walk) apply(m moment, out *reply, fresh bool, gets func() bool) {
	w.fresh = fresh
	for _, name := range slices.Sorted(maps.Keys(out.objects)) {
		if gets() {
			w.put(name, out.objects[name])
		}
	}
	for name := range w.gates {
		if out.objects[name] == nil && m.gates[name] != nil && gets() {
			delete(w.gates, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
		if out.objects[name] == nil && m.deliveries[name] != nil && gets() {
			w.notef("deleted %s", name)
			w.remove(name, fresh)
		}
	}
	if out.objects[compose.SyncName] == nil && w.sync != nil && m.sync != nil && gets() {
		w.sync = nil
	}
}
