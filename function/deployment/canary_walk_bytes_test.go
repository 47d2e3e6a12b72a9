package deployment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
)

// canaryBytes are the files of all commits, by the ids of their trees and of the folders in them, as a provider finds them.
type canaryBytes struct {
	trees, folders map[string]tree.Files
}

func newCanaryBytes() canaryBytes {
	return canaryBytes{trees: map[string]tree.Files{}, folders: map[string]tree.Files{}}
}

// keep keeps the files of a commit, and the files that a provider derives from them.
func (b canaryBytes) keep(files tree.Files) {
	b.keepTree(files)
	for _, name := range []string{track.Blue, track.Green} {
		if alone, err := track.At(files, track.State{Serving: name, Alone: true}); err == nil {
			b.keepTree(alone)
		}
	}
}

func (b canaryBytes) keepTree(files tree.Files) {
	b.trees[tree.ID(files)] = files
	for _, name := range track.Names() {
		if id := track.FolderID(files, name); id != "" {
			b.folders[id] = filesBelow(files, name)
		}
	}
}

// filesBelow are the files of a folder, by their names in it.
func filesBelow(files tree.Files, folder string) tree.Files {
	out := tree.Files{}
	for name, content := range files {
		if file, ok := strings.CutPrefix(name, folder+"/"); ok {
			out[file] = content
		}
	}
	return out
}

// commit composes the files of a tree as the provider does, and returns the violation: N7, that they have the id which the function computed.
func (b canaryBytes) commit(t deliveryv1alpha1.Tree) string {
	if t.Action == deliveryv1alpha1.ActionRestore {
		if b.trees[t.Tree] == nil {
			return fmt.Sprintf("N7: Site %s is to have tree %s, which no commit has", t.Site, t.Tree)
		}
		return ""
	}
	files, err := tree.Decode(t.Files)
	if err != nil {
		return err.Error()
	}
	files = maps.Clone(files)
	for _, p := range t.Parts {
		part, ok := b.folders[p.Tree]
		if !ok {
			return fmt.Sprintf("N7: Site %s is to have folder %s of track %s, which no commit has", t.Site, p.Tree, p.Path)
		}
		for name, content := range part {
			files[p.Path+"/"+name] = content
		}
	}
	if id := tree.ID(files); id != t.Tree {
		return fmt.Sprintf("N7: Site %s has tree %s, which the function takes for %s", t.Site, id, t.Tree)
	}
	b.keep(files)
	return checkWeights(t, files)
}

// checkWeights compares the weights of a tree with the weights of its routes.
func checkWeights(t deliveryv1alpha1.Tree, files tree.Files) string {
	want := map[string]int{}
	for _, treeTrack := range t.Tracks {
		want[treeTrack.Name] = int(treeTrack.Weight)
	}
	got, err := track.Weights(files)
	if err != nil {
		return err.Error()
	}
	maps.DeleteFunc(got, func(_ string, weight int) bool { return weight == 0 })
	maps.DeleteFunc(want, func(_ string, weight int) bool { return weight == 0 })
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Sprintf("Site %s: the routes have other weights than the tree says: -want, +got:\n%s", t.Site, diff)
	}
	return ""
}

// checkPods checks the two rules of a canary: a commit gives a track requests for which the commit before made the pods, and takes none of the pods whose
// requests it takes.
func checkPods(site string, previous, next tree.Files) string {
	weightsBefore, errBefore := track.Weights(previous)
	weightsAfter, errAfter := track.Weights(next)
	if errBefore != nil || errAfter != nil {
		return "" // There was no commit before.
	}
	for _, name := range track.Names() {
		podsBefore, full := podsIn(previous, name)
		podsAfter, _ := podsIn(next, name)
		switch needed := (full*int64(weightsAfter[name]) + 99) / 100; {
		case weightsAfter[name] > weightsBefore[name] && podsBefore < max(1, needed):
			return fmt.Sprintf("N1: Site %s gives %d percent to track %s, which has %d pods of %d", site, weightsAfter[name], name, podsBefore, full)
		case weightsAfter[name] < weightsBefore[name] && podsAfter < podsBefore:
			return fmt.Sprintf("N1: Site %s takes requests and pods from track %s in one commit", site, name)
		}
	}
	return ""
}

// podsIn returns how many pods a folder asks for, and how many at full size.
func podsIn(files tree.Files, folder string) (size, full int64) {
	for _, content := range filesBelow(files, folder) {
		u := &unstructured.Unstructured{}
		if yaml.Unmarshal(content, &u.Object) != nil || u.GetKind() != "Deployment" {
			continue
		}
		replicas, _, _ := unstructured.NestedFloat64(u.Object, "spec", "replicas")
		size = int64(replicas)
		if n, err := strconv.ParseInt(u.GetAnnotations()[track.AnnotationReplicas], 10, 64); err == nil {
			return size, n
		}
	}
	return size, size
}

// checkSync compares the weights that the SiteSync waits for with the routes in Git.
func (b canaryBytes) checkSync(w *world) string {
	u := w.in.Observed[compose.SyncName]
	if u == nil {
		return ""
	}
	s := &deliveryv1alpha1.SiteSync{}
	w.convert(u, s)
	for _, want := range s.Spec.ForProvider.Sites {
		files := b.trees[want.Tree]
		if files == nil || want.Traffic == nil {
			continue
		}
		t := deliveryv1alpha1.Tree{Site: want.Name}
		for _, traffic := range want.Traffic.Tracks {
			t.Tracks = append(t.Tracks, deliveryv1alpha1.TreeTrack{Name: traffic.Name, Weight: traffic.Weight})
		}
		if broken := checkWeights(t, files); broken != "" {
			return "N12: the SiteSync waits for other weights than Git has: " + broken
		}
	}
	return ""
}

// kindsOfWalk are all that the function may ask for. None of them writes at a Site.
var kindsOfWalk = []string{"GitDelivery", "SiteSync", "Gate"}

// checkWriters checks N12: a route is in Git, in one directory that one delivery writes, and nothing else that is asked for writes routes.
func checkWriters(out *Output) string {
	writers := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(out.Resources)) {
		o := out.Resources[name].Object
		if !slices.Contains(kindsOfWalk, o.GetKind()) {
			return fmt.Sprintf("N12: %s is a %s", name, o.GetKind())
		}
		for _, path := range pathsOf(o.Object) {
			if writers[path] != "" {
				return fmt.Sprintf("N12: %s and %s both write %s", writers[path], name, path)
			}
			writers[path] = name
		}
	}
	return ""
}
