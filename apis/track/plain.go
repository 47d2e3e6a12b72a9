package track

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// IsFlat is true for the files of a directory without tracks.
func IsFlat(files tree.Files) bool {
	for name := range files {
		if strings.Contains(name, "/") {
			return false
		}
	}
	return len(files) > 0
}

// Join returns the files of a directory with tracks and, beside them, in the folder Plain, the objects that only a directory without tracks has. The Services
// that routes send requests to, and these routes, come from the tracks; for other common objects, newest names their source: Plain, or a track. It returns an
// error, which names the object, if the Services are not the same: the pods of both have to answer the same callers.
func Join(tracked, flat tree.Files, newest string) (tree.Files, error) {
	j := joint{out: maps.Clone(tracked), flat: map[object.Object]string{}, tracked: map[object.Object]string{}, newest: newest}
	if err := j.readObjects(tracked, flat); err != nil {
		return nil, err
	}
	if err := j.checkFronts(flat); err != nil {
		return nil, err
	}
	for o, file := range j.flat {
		if err := j.placeObject(o, file, flat[file]); err != nil {
			return nil, err
		}
	}
	if len(filesOfFolder(j.out, Plain)) == 0 {
		return nil, errors.New("the revision without tracks has no objects of its own, which could keep the requests")
	}
	if _, ok := tracked[kustomizationFile]; !ok {
		return j.out, nil
	}
	if err := kustomizeFolder(j.out, FolderShared); err != nil {
		return nil, err
	}
	return j.out, kustomizeFolder(j.out, Plain)
}

// A joint is a directory with tracks that gets the objects of one without.
type joint struct {
	out           tree.Files
	flat, tracked map[object.Object]string
	fronts        fronts
	newest        string
}

func (j *joint) readObjects(tracked, flat tree.Files) error {
	var err error
	if j.fronts, err = readSharedFronts(tracked); err != nil {
		return err
	}
	for files, into := range map[*tree.Files]map[object.Object]string{&tracked: j.tracked, &flat: j.flat} {
		for _, name := range files.Names() {
			if IsKustomization(name) || strings.HasPrefix(name, Plain+"/") {
				continue
			}
			u, err := object.Decode((*files)[name])
			if err != nil {
				return errors.Wrap(err, name)
			}
			into[object.Of(u)] = name
		}
	}
	return nil
}

// checkFronts returns an error for a front that is not the same Service in both.
func (j *joint) checkFronts(flat tree.Files) error {
	for _, front := range j.fronts.sortedNames() {
		o := object.Object{Kind: "Service", Namespace: front.Namespace, Name: front.Name}
		file, ok := j.flat[o]
		if !ok {
			return errors.Errorf("%s: the revision without tracks has no such Service, so that requests could not move between the two revisions", o)
		}
		trackedService, err := object.Decode(j.out[j.tracked[o]])
		if err != nil {
			return err
		}
		plain, err := object.Decode(flat[file])
		if err != nil {
			return err
		}
		if field := differingField(trackedService, plain); field != "" {
			return errors.Errorf("%s: %s is another one than in the revision without tracks: it must be the same, since requests go to the pods of both", o, field)
		}
	}
	return nil
}

// differingField returns the field by which two Services send requests to other pods, or other ports of them, or "".
func differingField(a, b *unstructured.Unstructured) string {
	if !reflect.DeepEqual(selectorWithoutTrack(a), selectorWithoutTrack(b)) {
		return "spec.selector"
	}
	if !reflect.DeepEqual(portsOfService(a), portsOfService(b)) {
		return "spec.ports"
	}
	return ""
}

func selectorWithoutTrack(u *unstructured.Unstructured) map[string]any {
	out := maps.Clone(object.MapAt(u.Object, "spec", "selector"))
	delete(out, LabelTrack)
	return out
}

// portsOfService returns the ports of a Service with their defaults, without the fields that open them outside of the cluster.
func portsOfService(u *unstructured.Unstructured) []map[string]any {
	var out []map[string]any
	for _, p := range object.MapsOf(object.ListAt(u.Object, "spec", "ports")) {
		target := p["targetPort"]
		if target == nil {
			target = p["port"]
		}
		out = append(out, map[string]any{"name": p["name"], "port": p["port"], "targetPort": target, "protocol": cmp.Or(object.TextAt(p, "protocol"), "TCP")})
	}
	return out
}

// placeObject puts an object of the directory without tracks where it belongs.
func (j *joint) placeObject(o object.Object, file string, content []byte) error {
	trackedFile, isTracked := j.tracked[o]
	switch {
	case !isTracked:
		j.out[Plain+"/"+file] = content
	case !isSharedFile(trackedFile):
		return errors.Errorf("%s: both the track and the revision without tracks have one of this name", o)
	case j.newest == Plain:
		return j.replaceShared(trackedFile, content)
	}
	return nil
}

// replaceShared replaces a common object by the newer object. A front, and a route that sends requests to a front, stays.
func (j *joint) replaceShared(trackedFile string, content []byte) error {
	u, err := object.Decode(j.out[trackedFile])
	if err != nil {
		return err
	}
	isRouted := false
	if isGatewayRoute(u) {
		shares, err := readRouteShares(u, j.fronts)
		if err != nil {
			return err
		}
		isRouted = hasFrontShare(shares)
	}
	if !isRouted && !IsFront(u) {
		j.out[trackedFile] = content
	}
	return nil
}

// filesOfFolder returns the files of a folder, by their names in it.
func filesOfFolder(files tree.Files, folder string) tree.Files {
	out := tree.Files{}
	for name, b := range files {
		if file, ok := strings.CutPrefix(name, folder+"/"); ok && file != kustomizationFile {
			out[file] = b
		}
	}
	return out
}

// WithPlain returns the files of a directory with the folder Plain of another directory.
func WithPlain(files, from tree.Files) tree.Files {
	out := maps.Clone(files)
	for name, b := range from {
		if strings.HasPrefix(name, Plain+"/") {
			out[name] = b
		}
	}
	return out
}

// LabelPods returns the files of a directory without tracks, in which the pods that Services select have the label of the track Plain. The Services that
// routes send requests to select them alone: so the pods of another track may run beside them, and go, without a request. Selectors of Deployments, which
// can never change, stay as they are.
func LabelPods(files tree.Files) (tree.Files, error) {
	p, err := readPlainDirectory(files)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(files)
	for name, d := range p.deployments {
		selecting := p.selectingServices(d)
		if len(selecting) == 0 {
			continue
		}
		object.MakeMap(d.Object, "spec", "template", "metadata", "labels")[LabelTrack] = Plain
		if out[name], err = object.Encode(d); err != nil {
			return nil, err
		}
		for _, file := range selecting {
			s := p.services[file]
			if !p.routed[types.NamespacedName{Namespace: s.GetNamespace(), Name: s.GetName()}] {
				continue
			}
			object.MakeMap(s.Object, "spec", "selector")[LabelTrack] = Plain
			if out[file], err = object.Encode(s); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// A plainDirectory has the objects of a directory without tracks, by their files, and the Services that its routes send requests to.
type plainDirectory struct {
	deployments, services map[string]*unstructured.Unstructured
	routed                map[types.NamespacedName]bool
}

func readPlainDirectory(files tree.Files) (plainDirectory, error) {
	out := plainDirectory{deployments: map[string]*unstructured.Unstructured{}, services: map[string]*unstructured.Unstructured{}, routed: map[types.NamespacedName]bool{}}
	for _, name := range files.Names() {
		if IsKustomization(name) {
			continue
		}
		u, err := object.Decode(files[name])
		if err != nil {
			return out, errors.Wrap(err, name)
		}
		switch {
		case isGatewayRoute(u):
			out.recordBackends(u)
		case object.Of(u).Group == "apps" && u.GetKind() == "Deployment":
			out.deployments[name] = u
		case object.Of(u).Group == "" && u.GetKind() == "Service":
			out.services[name] = u
		}
	}
	return out, nil
}

func (p plainDirectory) recordBackends(u *unstructured.Unstructured) {
	for _, rule := range rulesOfRoute(u) {
		for _, ref := range backendRefs(rule) {
			if isServiceRef(ref) {
				p.routed[types.NamespacedName{Namespace: cmp.Or(object.TextAt(ref, "namespace"), u.GetNamespace()), Name: object.TextAt(ref, "name")}] = true
			}
		}
	}
}

// selectingServices returns the files of the Services that select the pods of a Deployment.
func (p plainDirectory) selectingServices(d *unstructured.Unstructured) []string {
	var out []string
	pods, _ := object.PodLabels(d)
	delete(pods, LabelTrack)
	for _, file := range slices.Sorted(maps.Keys(p.services)) {
		s := p.services[file]
		selector, _, _ := unstructured.NestedStringMap(s.Object, "spec", "selector")
		delete(selector, LabelTrack)
		if s.GetNamespace() == d.GetNamespace() && len(selector) > 0 && labels.SelectorFromSet(selector).Matches(pods) {
			out = append(out, file)
		}
	}
	return out
}
