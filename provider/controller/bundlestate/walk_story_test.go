package bundlestate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/test/soak"
)

const (
	// walkStories and walkSteps are the numbers of stories and of steps in each; fewWalkStories are those of make test, and storiesVariable overrides the
	// number. mutantStories is the limit of stories that search for a disabled protection.
	fewWalkStories, walkStories, walkSteps, mutantStories = 40, 120, 60, 1500

	storiesVariable = "INTENTPLANE_BUNDLE_STORIES"

	// quietRounds is how many rounds a story gets to come to rest.
	quietRounds = 60
)

// walkPackages are the names of packages, and walkBundles the Bundles: a claim, a composite of its name, and another claim.
var (
	walkPackages = []string{"a", "b", "c", "d", "e"}
	walkBundles  = []v1alpha1.BundleReference{{Group: "claims.intentplane.dev", Name: "platform"}, {Group: group, Name: "platform"}, {Group: "claims.intentplane.dev", Name: "other"}}
)

// A walk is a story of Bundles: edits, failures, lost objects and records, killed providers, and backups that come back. The provider and its records are
// real, and the API server is a double.
type walk struct {
	*rand.Rand

	s  *server
	c  *connector
	at time.Time

	// asked is the spec of each Bundle, and backup restores an earlier state.
	asked  map[string]v1alpha1.BundleStateParameters
	backup func()

	// acting is the BundleState that is reconciled.
	acting string

	// forget removes a part of the facts that the provider decides on.
	forget func(*facts)

	// wrong has the violations of a rule, and told the events of the story.
	wrong, told []string
}

// A stage has the clientset of many stories, which takes long to make. The server of the story answers for it.
type stage struct {
	clientset *fake.Clientset
	current   *server
}

func newStage() *stage {
	st := &stage{clientset: fake.NewClientset()}
	st.clientset.PrependReactor("*", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		o, err := st.current.answerSecrets(a)
		return true, o, err
	})
	return st
}

func (st *stage) newWalk(seed uint64, forget func(*facts), change func(*server)) *walk {
	w := &walk{Rand: rand.New(rand.NewPCG(seed, 7)), at: now, asked: map[string]v1alpha1.BundleStateParameters{}, forget: forget}
	w.s = &server{
		namespace: "team-a", secrets: map[string]*corev1.Secret{}, now: func() time.Time { return w.at }, objects: map[objectKey]*unstructured.Unstructured{},
		states: map[string]*v1alpha1.BundleState{}, volumes: map[string]bool{}, writesLeft: -1, onDelete: w.judgeRemoval,
	}
	for _, name := range walkPackages {
		w.s.volumes[name] = false // Its GitDelivery shows that it has none.
	}
	change(w.s)
	st.current = w.s
	w.c = &connector{kube: w.s, live: w.s, clientset: st.clientset, recorder: event.NewNopRecorder(), memory: newNoteMemory(), now: w.s.now}
	w.saveBackup()
	return w
}

func (w *walk) seldom(n int) bool { return w.IntN(n) == 0 }

func (w *walk) tracef(format string, args ...any) {
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

func (w *walk) reportf(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func nameOfState(b v1alpha1.BundleReference) string {
	if b.Group == group {
		return b.Name + ".ns"
	}
	return b.Name
}

// bundleAt returns the Bundle in the cluster, or nil if it does not exist.
func (w *walk) bundleAt(b v1alpha1.BundleReference) *unstructured.Unstructured {
	return w.s.objects[objectKey{b.Group, "Bundle", b.Name}]
}

// editBundle gives one package of a Bundle another shape, or all packages of a new Bundle.
func (w *walk) editBundle(b v1alpha1.BundleReference) {
	spec, names := w.asked[nameOfState(b)], []string{walkPackages[w.IntN(len(walkPackages))]}
	if w.bundleAt(b) == nil {
		spec, names = v1alpha1.BundleStateParameters{BundleRef: b}, walkPackages
	}
	spec.Packages = slices.DeleteFunc(slices.Clone(spec.Packages), func(p v1alpha1.BundlePackage) bool { return slices.Contains(names, p.Name) })
	for _, name := range names {
		if w.seldom(2) {
			spec.Packages = append(spec.Packages, w.newPackage(name, spec.Packages))
		}
	}
	spec.Packages = orderWalkPackages(spec.Packages)
	spec.Version, spec.SpecDigest = fmt.Sprint(w.s.version), fmt.Sprint("digest-", w.s.version)
	spec.Orphan, spec.Suspend, spec.PruneAfter = w.seldom(6), w.seldom(12), nil
	if w.seldom(2) {
		spec.PruneAfter = &metav1.Duration{Duration: time.Duration(w.IntN(2)) * time.Hour}
	}
	w.asked[nameOfState(b)] = spec
	w.writeBundle(b, spec)
}

// newPackage returns a package that depends on some of others which come before it by name.
func (w *walk) newPackage(name string, candidates []v1alpha1.BundlePackage) v1alpha1.BundlePackage {
	variant := "v1"
	if w.seldom(4) {
		variant = "v2"
	}
	p := walkPackage(name, variant)
	p.Disabled, p.Adopt = w.seldom(4), w.seldom(3)
	if w.seldom(8) {
		p.Spec, p.Digest, p.Disabled, p.Adopt = nil, "", false, false
	}
	for _, o := range candidates {
		if o.Name < name && w.seldom(3) {
			p.DependsOn = append(p.DependsOn, o.Name)
		}
	}
	return p
}

// walkPackage returns a package with a variant of the spec.
func walkPackage(name, variant string) v1alpha1.BundlePackage {
	return v1alpha1.BundlePackage{
		Name: name, Version: variant, Group: group, Kind: "IntentDeployment", Spec: &runtime.RawExtension{Raw: []byte(`{"intent":"` + variant + `"}`)},
		Digest: bundle.DigestOf(newWalkObject(name, variant)),
	}
}

// orderWalkPackages sets layers, and drops names that the function would refuse: missing packages and disabled packages.
func orderWalkPackages(all []v1alpha1.BundlePackage) []v1alpha1.BundlePackage {
	slices.SortFunc(all, func(a, b v1alpha1.BundlePackage) int { return strings.Compare(a.Name, b.Name) })
	layers, disabled := map[string]int32{}, map[string]bool{}
	for i := range all {
		p := &all[i]
		p.DependsOn = slices.DeleteFunc(slices.Clone(p.DependsOn), func(name string) bool { return layers[name] == 0 || disabled[name] && !p.Disabled })
		p.Layer = 1
		for _, name := range p.DependsOn {
			p.Layer = max(p.Layer, layers[name]+1)
		}
		layers[p.Name], disabled[p.Name] = p.Layer, p.Disabled
	}
	return all
}

func newWalkObject(name, variant string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"intent": variant}}}
	u.SetAPIVersion(group + "/v1alpha1")
	u.SetKind("IntentDeployment")
	u.SetNamespace("team-a")
	u.SetName(name)
	return u
}

func (w *walk) writeBundle(b v1alpha1.BundleReference, spec v1alpha1.BundleStateParameters) {
	packages := []any{}
	for _, p := range spec.Packages {
		packages = append(packages, map[string]any{"name": p.Name, "enabled": !p.Disabled})
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"packages": packages}}}
	u.SetAPIVersion(b.Group + "/v1alpha1")
	u.SetKind("Bundle")
	u.SetNamespace(w.s.namespace)
	u.SetName(b.Name)
	w.s.put(u)
	w.tracef("edit %s: %v", nameOfState(b), packages)
}

// compose brings a BundleState up to date with its Bundle, as the function does through Crossplane.
func (w *walk) compose(b v1alpha1.BundleReference) {
	name := nameOfState(b)
	bs := w.s.states[name]
	switch {
	case w.bundleAt(b) == nil && bs != nil && !meta.WasDeleted(bs):
		deletedAt := metav1.NewTime(w.at)
		bs.SetDeletionTimestamp(&deletedAt)
		w.tracef("BundleState %s is deleted", name)
	case w.bundleAt(b) != nil && bs == nil:
		w.s.version++
		bs = &v1alpha1.BundleState{}
		bs.SetNamespace(w.s.namespace)
		bs.SetName(name)
		bs.SetUID(types.UID(fmt.Sprint("state-", w.s.version)))
		bs.SetCreationTimestamp(metav1.NewTime(w.at))
		w.s.states[name] = bs
		bs.Spec.ForProvider = w.asked[name]
	case w.bundleAt(b) != nil && !meta.WasDeleted(bs):
		bs.Spec.ForProvider = w.asked[name]
	}
}

// reconcile lets the provider look at one BundleState, and act. It may be killed before any of its writes, and others come between.
func (w *walk) reconcile(name string, isQuiet bool) {
	stored := w.s.states[name]
	if stored == nil {
		return
	}
	bs, ctx := stored.DeepCopy(), context.Background()
	w.acting = name
	f, err := w.c.gatherFacts(ctx, bs)
	if err != nil {
		w.reportf("%s: %v", name, err)
		return
	}
	w.forget(f)
	e := &external{connector: w.c, note: w.c.memory.NoteOf(bs)}
	observed, err := e.observeFacts(ctx, bs, f)
	if err != nil {
		w.reportf("%s: %v", name, err)
		return
	}
	stored.Status = *bs.Status.DeepCopy()
	if meta.WasDeleted(bs) && !observed.ResourceExists {
		delete(w.s.states, name)
		return
	}
	if !isQuiet {
		w.disturb()
	}
	switch {
	case meta.WasDeleted(bs):
		_, _ = e.Delete(ctx, bs)
	case !observed.ResourceUpToDate:
		_, _ = e.Update(ctx, bs)
	}
	if w.s.writesLeft == 0 {
		w.tracef("the provider is killed")
		w.c.memory, w.s.writesLeft = newNoteMemory(), -1
		return
	}
	w.s.writesLeft, stored.Status = -1, bs.Status
}

// disturb changes something between the observation and the action of the provider.
func (w *walk) disturb() {
	if w.seldom(6) {
		w.s.writesLeft = w.IntN(4)
	}
	if w.seldom(5) {
		w.loseObject()
	}
	if w.seldom(8) {
		w.relabel()
	}
}

// relabel lets another bundle take a package at the very moment, as its BundleState would.
func (w *walk) relabel() {
	for _, name := range walkPackages {
		if u := w.s.objects[objectKey{group, "IntentDeployment", name}]; u != nil && w.seldom(2) {
			b := walkBundles[w.IntN(3)]
			u = u.DeepCopy()
			action{owner: b}.setBundleLabels(u)
			w.s.put(u)
			w.tracef("package %s is given to %s", name, nameOfState(b))
		}
	}
}

// loseObject lets a user delete a package, and maybe create another package in its place.
func (w *walk) loseObject() {
	key := objectKey{group, "IntentDeployment", walkPackages[w.IntN(len(walkPackages))]}
	delete(w.s.objects, key)
	if w.seldom(3) {
		w.s.put(newWalkObject(key.name, "v1"))
	}
	w.tracef("package %s is lost", key.name)
}

// playDeployments lets each deployment take up its spec and succeed or fail, and lets deleted objects disappear.
func (w *walk) playDeployments(isQuiet bool) {
	for _, key := range slices.SortedFunc(maps.Keys(w.s.objects), compareKeys) {
		u := w.s.objects[key]
		switch {
		case key.kind != "IntentDeployment":
		case meta.WasDeleted(u) && (isQuiet || w.seldom(2)):
			delete(w.s.objects, key)
		case !meta.WasDeleted(u) && (isQuiet || !w.seldom(3)):
			outcome := "Succeeded"
			if !isQuiet && w.seldom(4) {
				outcome = "Failed"
			}
			status := map[string]any{
				"intentDigest": bundle.DigestOf(u), "phase": outcome, "outcome": outcome, "revision": int64(1),
				"conditions": []any{map[string]any{"type": "Ready", "status": map[bool]string{true: "True", false: "False"}[outcome == "Succeeded"]}},
			}
			if fmt.Sprint(u.Object["status"]) != fmt.Sprint(status) {
				u = u.DeepCopy()
				u.Object["status"] = status
				w.s.put(u)
			}
		}
	}
}

// saveBackup remembers all that there is, but for the records: these are lost with the cluster, or newer.
func (w *walk) saveBackup() {
	objects, states, requested := map[objectKey]*unstructured.Unstructured{}, map[string]*v1alpha1.BundleState{}, maps.Clone(w.asked)
	for k, u := range w.s.objects {
		objects[k] = u.DeepCopy()
	}
	for k, bs := range w.s.states {
		states[k] = bs.DeepCopy()
	}
	w.backup = func() {
		w.s.objects, w.s.states, w.asked = objects, states, requested
		w.saveBackup()
		w.c.memory = newNoteMemory()
		w.tracef("a backup is restored")
	}
}

// changeRecords lets other programs write records, breaks some, and loses some.
func (w *walk) changeRecords() {
	prefix, name := "theirs-", "uses"
	if w.seldom(4) {
		prefix, name = "", nameOfState(walkBundles[w.IntN(3)])
	}
	secret, ctx := prefix+name, context.Background()
	if prefix == "" {
		secret = state.Prefix + name
	}
	all := w.c.clientset.CoreV1().Secrets(w.s.namespace)
	w.tracef("record %s", secret)
	found, err := all.Get(ctx, secret, metav1.GetOptions{})
	switch {
	case err == nil && w.seldom(3):
		found.Data = map[string][]byte{"data": []byte(`{"name":`)}
		_, _ = all.Update(ctx, found, metav1.UpdateOptions{})
	case err == nil && w.seldom(2):
		_ = all.Delete(ctx, secret, metav1.DeleteOptions{})
	default:
		theirs, _ := state.NewClient(w.c.clientset, state.Options{Namespace: w.s.namespace, Prefix: prefix, Writer: "theirs", Now: w.s.now})
		_, _ = theirs.InitBundleState(ctx, state.Bundle{Name: name, Version: "1", Packages: []state.Package{{Name: walkPackages[w.IntN(len(walkPackages))], Version: "1"}}}, state.Deploying)
	}
}

// step makes a random event.
func (w *walk) step() {
	b := walkBundles[w.IntN(3)]
	switch n := w.IntN(40); {
	case n < 6:
		w.editBundle(b)
	case n < 7:
		delete(w.s.objects, objectKey{b.Group, "Bundle", b.Name})
		w.tracef("Bundle %s is deleted", nameOfState(b))
	case n < 13:
		w.compose(b)
	case n < 20:
		w.reconcile(nameOfState(b), false)
	case n < 32:
		w.goOn()
	case n < 34:
		w.loseObject()
	case n < 36:
		w.changeRecords()
	case n < 37:
		w.backup()
	case n < 38:
		w.saveBackup()
	case n < 39:
		w.at = w.at.Add(time.Duration(w.IntN(90)) * time.Minute)
	default:
		name := walkPackages[w.IntN(len(walkPackages))]
		w.s.volumes[name] = w.seldom(3)
	}
}

// goOn lets all controllers work for a while.
func (w *walk) goOn() {
	for range 1 + w.IntN(4) {
		for _, b := range walkBundles {
			if w.seldom(2) {
				w.compose(b)
			}
			w.reconcile(nameOfState(b), false)
		}
		w.playDeployments(false)
	}
}

// playStory plays a story until it is at rest, and returns the violations.
func (w *walk) playStory() []string {
	for range walkSteps {
		if w.step(); len(w.wrong) > 0 {
			return w.wrong
		}
	}
	w.comeToRest()
	return w.wrong
}

// comeToRest lets all go well from now on. Then nothing is written any more, and each package that is asked for is there.
func (w *walk) comeToRest() {
	unchangedRounds := 0
	for range quietRounds {
		written := w.s.written
		for _, b := range walkBundles {
			w.compose(b)
			w.reconcile(nameOfState(b), true)
		}
		w.playDeployments(true)
		w.at = w.at.Add(3 * time.Minute)
		if unchangedRounds++; w.s.written != written {
			unchangedRounds = 0
		}
		if len(w.wrong) > 0 || unchangedRounds > 3 {
			w.judgeRest()
			return
		}
	}
	w.reportf("the provider does not come to rest")
}

// TestWalk plays random stories. The provider never removes a package that a Bundle names, that another package needs, or
// that was handed back.
func TestWalk(t *testing.T) {
	removed, st, stories := 0, newStage(), uint64(soak.Quick(fewWalkStories, walkStories))
	if n, err := strconv.ParseUint(os.Getenv(storiesVariable), 10, 64); err == nil {
		stories = n
	}
	for seed := range stories {
		w := st.newWalk(seed, func(*facts) {}, func(*server) {})
		if wrong := w.playStory(); len(wrong) > 0 {
			t.Fatalf("story %d:\n%s\n\n%s", seed, strings.Join(wrong, "\n"), strings.Join(w.told[max(0, len(w.told)-40):], "\n"))
		}
		removed += strings.Count(strings.Join(w.told, "\n"), " is removed by ")
	}
	if uint64(removed) < stories/8 {
		t.Errorf("%d stories removed %d packages: they say little", stories, removed)
	}
}

// TestWalkMutants disables the protections of a package, each by itself. A story finds each disabled protection.
func TestWalkMutants(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		forget func(*facts)
		change func(*server)
	}{
		"Neighbours": {reason: "A package that another BundleState requests stays.", forget: func(f *facts) { f.usages = nil }},
		"Named":      {reason: "A package that the spec of a Bundle names stays before its BundleState names it.", change: func(s *server) { s.hidesBundles = true }},
		"Recorded":   {reason: "A package that the record of another program names stays.", forget: func(f *facts) { f.recordUsers = nil }},
		"Unread":     {reason: "A package that an unreadable record may name stays.", forget: func(f *facts) { f.unread = nil }},
		"Owner": {reason: "A package of another bundle or of a user stays.", forget: func(f *facts) {
			for _, o := range f.objects {
				o.owner, o.label = f.bundle, o.live.GetName()
				observed := f.was[o.label]
				observed.UID = string(o.live.GetUID())
				f.was[o.label] = observed
			}
		}},
		"Orphan":     {reason: "Orphan leaves all.", forget: func(f *facts) { f.spec.Orphan = false }},
		"Suspend":    {reason: "A Bundle that is suspended removes nothing.", forget: func(f *facts) { f.spec.Suspend = false }},
		"Dependents": {reason: "A dependency is removed after its dependents.", forget: forgetDependencies},
		"Never":      {reason: "A Bundle that does not prune leaves its unreferenced objects.", forget: func(f *facts) { f.spec.PruneAfter = &metav1.Duration{} }},
		"Version":    {reason: "An object that changed after its observation stays.", change: func(s *server) { s.ignoresVersions = true }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.forget == nil {
				tc.forget = func(*facts) {}
			}
			if tc.change == nil {
				tc.change = func(*server) {}
			}
			st := newStage()
			for seed := range uint64(mutantStories) {
				if wrong := st.newWalk(seed, tc.forget, tc.change).playStory(); len(wrong) > 0 {
					t.Logf("story %d: %s", seed, wrong[0])
					return
				}
			}
			t.Errorf("\n%s\nNo story of %d finds the disabled protection.", tc.reason, mutantStories)
		})
	}
}

func forgetDependencies(f *facts) {
	f.spec.Packages = slices.Clone(f.spec.Packages)
	for i := range f.spec.Packages {
		f.spec.Packages[i].DependsOn = nil
	}
}
