package deployment

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/render"
)

// deliverTracks returns the tracks of a directory after a push. It panics for a tree that has another id than its files and parts: a repository refuses
// that.
func (r *repo) deliverTracks(t deliveryv1alpha1.Tree, previous deliveryv1alpha1.DeliveredTree, position ledger.Position) []deliveryv1alpha1.DeliveredTrack {
	if len(t.Tracks) == 0 {
		return nil
	}
	r.noteFolders(t)
	var out []deliveryv1alpha1.DeliveredTrack
	for _, treeTrack := range t.Tracks {
		now := deliveryv1alpha1.DeliveredTrack{Name: treeTrack.Name, Revision: treeTrack.Revision, Weight: treeTrack.Weight, Tree: r.folders[t.Tree][treeTrack.Name], ChangedAt: &position}
		for _, previousTrack := range previous.Tracks {
			if previousTrack.Name == treeTrack.Name && previousTrack.Tree == now.Tree {
				now.ChangedAt = previousTrack.ChangedAt
			}
			if previousTrack.Name == treeTrack.Name {
				now.WeighedAt = previousTrack.WeighedAt
			}
		}
		if treeTrack.Weight > 0 && (now.WeighedAt == nil || previous.Tree != t.Tree) {
			now.WeighedAt = &position
		}
		out = append(out, now)
	}
	return out
}

// noteFolders records the folders of a tree, and the trees with each track alone, from which a rollback restores.
func (r *repo) noteFolders(t deliveryv1alpha1.Tree) {
	if t.Action != deliveryv1alpha1.ActionDesired {
		return
	}
	files, err := tree.Decode(t.Files)
	if err != nil {
		panic(err)
	}
	parts, folders := map[string]string{}, map[string]string{}
	for _, p := range t.Parts {
		parts[p.Path], folders[p.Path] = p.Tree, p.Tree
	}
	if id, err := tree.GraftedID(files, parts); err != nil || id != t.Tree {
		panic(fmt.Sprintf("the tree of Site %s has the id %s, and is asked for as %s: %v", t.Site, id, t.Tree, err))
	}
	for _, treeTrack := range t.Tracks {
		if id := track.FolderID(files, treeTrack.Name); id != "" {
			folders[treeTrack.Name] = id
		}
	}
	r.folders[t.Tree] = folders
}

// newCanaryWorld has the Blueprint with tracks in the place of the quickstart's Blueprint, and a deployment with steps.
func newCanaryWorld(tb testing.TB, steps ...deploymentv1alpha1.CanaryStep) *world {
	tb.Helper()
	w := newWorld(tb)
	w.core = New(render.NewRenderer())
	w.core.version = firstRenderer
	w.objects = slices.DeleteFunc(w.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Blueprint" })
	w.addObject(readBlueprint(tb, "web-canary-1.0.0.yaml"))
	w.set("ClusterProviderConfig", w.firstConfig(), allowedKinds(), "spec", "policy", "allowedKinds")
	w.observe("edge1", "edge2")
	w.sayCanary("one", 4)
	w.in.Spec.DeliveryConfig.Canary = &deploymentv1alpha1.CanaryConfig{Steps: steps}
	return w
}

func (w *world) sayCanary(greeting string, replicas int) {
	w.say(fmt.Sprintf(`{"service": "shop", "type": "web-canary", "sites": ["edge1"], "replicas": %d, "parameters": {"host": "shop.example.org", "greeting": %q}}`, replicas, greeting))
}

func (w *world) firstConfig() string {
	for _, o := range w.objects {
		if o.GetKind() == "ClusterProviderConfig" {
			return o.GetName()
		}
	}
	w.t.Fatal("no ClusterProviderConfig")
	return ""
}

func allowedKinds() []any {
	var out []any
	for _, k := range [][2]string{{"", "ConfigMap"}, {"", "Service"}, {"apps", "Deployment"}, {"policy", "PodDisruptionBudget"}, {"gateway.networking.k8s.io", "HTTPRoute"}} {
		out = append(out, map[string]any{"group": k[0], "kinds": []any{k[1]}})
	}
	return out
}

func readBlueprint(tb testing.TB, file string) *unstructured.Unstructured {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "blueprints", file))
	if err != nil {
		tb.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(bytes.TrimSpace(b), &o.Object); err != nil {
		tb.Fatal(err)
	}
	return o
}

// observeTracks lets the SiteSync and then the Gates reconcile once.
func (w *world) observeTracks(c cluster) {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		if u := w.in.Observed[name]; u.GetKind() == "SiteSync" {
			s := &deliveryv1alpha1.SiteSync{}
			w.convert(u, s)
			w.observeSites(s, c)
			w.setStatus(name, &s.Status)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		if u := w.in.Observed[name]; u.GetKind() == "Gate" {
			g := &rolloutv1alpha1.Gate{}
			w.convert(u, g)
			w.measure(g, c)
			w.setStatus(name, &g.Status)
		}
	}
}

func (w *world) convert(u *unstructured.Unstructured, into any) {
	w.t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) setStatus(name string, status any) {
	w.t.Helper()
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		w.t.Fatal(err)
	}
	w.in.Observed[name].Object["status"] = out
}

// observeSites observes each Site as the provider does, by the position that is asked for.
func (w *world) observeSites(s *deliveryv1alpha1.SiteSync, c cluster) {
	p := s.Spec.ForProvider
	if w.followLedger != nil {
		p = w.followLedger(s)
	}
	position, previous, live, isStuck := p.AskedPosition(), s.Status.AtProvider, true, false
	next := deliveryv1alpha1.SiteSyncObservation{Position: &position, Pause: previous.Pause}
	for _, want := range p.Sites {
		o := w.observeSite(want, previous, position, c)
		if position != s.Spec.ForProvider.AskedPosition() && want.Wave <= position.Step {
			o.DesiredTree = want.Tree
		}
		live = live && (o.State == deliveryv1alpha1.SiteLive || want.Wave > position.Step)
		isStuck = isStuck || w.isStuck(want, c)
		next.Sites = append(next.Sites, o)
	}
	s.Status.AtProvider = next
	status, reason := corev1.ConditionFalse, deliveryv1alpha1.ReasonSyncing
	if live {
		status, reason = corev1.ConditionTrue, deliveryv1alpha1.ReasonLive
	}
	if c.timesOut && isStuck && !live {
		reason = deliveryv1alpha1.ReasonTimedOut
	}
	setReady(s, status, reason)
	w.observePause(s, p, live)
}

func (w *world) observeSite(want deliveryv1alpha1.SiteTree, previous deliveryv1alpha1.SiteSyncObservation, position ledger.Position, c cluster) deliveryv1alpha1.SiteObservation {
	o := deliveryv1alpha1.SiteObservation{Name: want.Name, State: deliveryv1alpha1.SiteSyncing}
	late := c.behind[want.Name]
	isApplied := want.Tree != "" && w.treeAt(want.Path) == want.Tree && !late.engine
	isRouted := isApplied && !late.routes
	if isApplied {
		o.Tree = want.Tree
	}
	if isRouted {
		o.State = deliveryv1alpha1.SiteLive
	}
	if want.Traffic == nil {
		return o
	}
	last := deliveryv1alpha1.SiteObservation{}
	for _, s := range previous.Sites {
		if s.Name == want.Name {
			last = s
		}
	}
	o.Traffic = &deliveryv1alpha1.SiteTrafficObservation{}
	for _, t := range want.Traffic.Tracks {
		revision := w.revisionIn(want.Path, t.Name)
		hasPods := isApplied && !late.pods && !c.broken[revision]
		if t.Awaited && !hasPods || t.Weight > 0 && c.unrouted[revision] {
			o.State = deliveryv1alpha1.SiteSyncing
		}
		o.Traffic.Tracks = append(o.Traffic.Tracks, w.observeTrack(t, evidence.TrackOf(last, t.Name), position, isRouted, hasPods))
	}
	return o
}

func (w *world) observeTrack(t deliveryv1alpha1.TrackTraffic, last deliveryv1alpha1.TrackObservation, position ledger.Position, isRouted, hasPods bool) deliveryv1alpha1.TrackObservation {
	o := deliveryv1alpha1.TrackObservation{Name: t.Name}
	isAfter := func(p ledger.Position, boundary *ledger.Position) bool {
		return boundary == nil || p.Compare(*boundary) > 0
	}
	switch {
	case t.Weight > 0:
	case last.ProvenAt != nil && isAfter(*last.ProvenAt, t.WeighedAt):
		o.ProvenAt, o.IdleSince = last.ProvenAt, last.IdleSince
	case isRouted && isAfter(position, t.WeighedAt):
		now := w.in.Now
		o.ProvenAt, o.IdleSince = &position, &now
	}
	o.Idle = o.IdleSince != nil && !w.in.Now.Before(&metav1.Time{Time: o.IdleSince.Add(30 * time.Second)})
	switch {
	case t.Tree == "":
		w.t.Errorf("the SiteSync names no folder of track %s", t.Name)
	case last.AvailableTree == t.Tree && (t.ChangedAt == nil || last.AvailableAt.Compare(*t.ChangedAt) >= 0):
		o.AvailableTree, o.AvailableAt = last.AvailableTree, last.AvailableAt
	case hasPods && (t.ChangedAt == nil || position.Compare(*t.ChangedAt) >= 0):
		o.AvailableTree, o.AvailableAt = t.Tree, &position
	}
	return o
}

func (w *world) treeAt(path string) string {
	for _, r := range w.repositories {
		if id, ok := r.dirs[path]; ok {
			return id
		}
	}
	return ""
}

func (w *world) revisionIn(path, name string) int64 {
	for _, r := range w.repositories {
		if r.memory.record == nil {
			continue
		}
		for _, t := range r.memory.record.trees {
			for _, treeTrack := range t.Tracks {
				if t.Path == path && treeTrack.Name == name {
					return treeTrack.Revision
				}
			}
		}
	}
	return 0
}

func (w *world) observePause(s *deliveryv1alpha1.SiteSync, p deliveryv1alpha1.SiteSyncParameters, live bool) {
	o, released := &s.Status.AtProvider, xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, ObservedGeneration: s.GetGeneration()}
	if p.Pause == "" {
		released.Status, released.Reason = corev1.ConditionTrue, deliveryv1alpha1.ReasonNoPause
		s.SetConditions(released)
		return
	}
	released.Status, released.Reason = corev1.ConditionFalse, deliveryv1alpha1.ReasonPausing
	length, err := time.ParseDuration(p.Pause)
	if o.Pause == nil || o.Pause.Position != p.AskedPosition() {
		o.Pause = nil
	}
	if err == nil && o.Pause == nil && live {
		o.Pause = &deliveryv1alpha1.PauseObservation{Position: p.AskedPosition(), StartedAt: w.in.Now, EndsAt: metav1.NewTime(w.in.Now.Add(length))}
	}
	if p.Promoted || o.Pause != nil && !w.in.Now.Before(&o.Pause.EndsAt) {
		released.Status, released.Reason = corev1.ConditionTrue, deliveryv1alpha1.ReasonPauseOver
	}
	s.SetConditions(released)
}

// canaryRound lets all parts act once, and returns the output of the call.
func (w *world) canaryRound(c cluster) *Output {
	w.t.Helper()
	w.apply(w.call())
	if w.isLate {
		w.apply(w.call())
	}
	w.deliver()
	w.observeTracks(c)
	w.in.Now = metav1.NewTime(w.in.Now.Add(5 * time.Second))
	return w.call()
}

// directory returns the state of a Site's directory: each track with its revision and weight.
func (w *world) directory(site string) string {
	var out []string
	for _, r := range w.repositories {
		if r.memory.record == nil {
			continue
		}
		for _, t := range r.memory.record.trees {
			for _, treeTrack := range t.Tracks {
				if t.Site == site {
					out = append(out, fmt.Sprintf("%s %d: %d", treeTrack.Name, treeTrack.Revision, treeTrack.Weight))
				}
			}
			if t.Site == site && len(t.Tracks) == 0 {
				out = append(out, fmt.Sprintf("flat %d", t.Revision))
			}
		}
	}
	return strings.Join(out, ", ")
}

// story returns the successive states of a Site's directory, until nothing changes for 12 rounds.
func (w *world) story(site string, c cluster) ([]string, *Output) {
	w.t.Helper()
	var story []string
	var out *Output
	for calm := 0; calm < 12; calm++ {
		out = w.canaryRound(c)
		if current := w.directory(site); len(story) == 0 && current != "" || len(story) > 0 && story[len(story)-1] != current {
			story, calm = append(story, current), 0
		}
	}
	return story, out
}

// canaryLine returns status.canary in one line.
func canaryLine(out *Output) string {
	c := out.Status.Canary
	if c == nil {
		return "none"
	}
	line := strings.TrimSpace(fmt.Sprintf("%s %s %d %s of %d", c.State, c.Step, *c.Weight, c.Track, c.StableRevision))
	if c.Until != nil {
		line += " until"
	}
	if c.Promote != nil {
		line += fmt.Sprintf(" promote %d", *c.Promote)
	}
	return line
}

// statusStory returns the successive values of status.canary, until nothing changes for 12 rounds.
func (w *world) statusStory(c cluster) ([]string, *Output) {
	w.t.Helper()
	var story []string
	var out *Output
	note := func() bool {
		out = w.call()
		line := canaryLine(out)
		isNew := len(story) == 0 || story[len(story)-1] != line
		if isNew {
			story = append(story, line)
		}
		return isNew
	}
	for calm := 0; calm < 12; calm++ {
		w.apply(w.call())
		w.deliver()
		isDelivered := note()
		w.observeTracks(c)
		w.in.Now = metav1.NewTime(w.in.Now.Add(5 * time.Second))
		if note() || isDelivered {
			calm = 0
		}
	}
	return story, out
}
