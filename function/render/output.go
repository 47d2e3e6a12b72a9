package render

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/render/guard"
)

// Bounds of the rendered objects of one Site.
const (
	maxOutputBytes = 4 << 20
	maxStem        = 200
)

var (
	apiVersionPattern = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[a-z0-9]{1,62}$`)
	kindPattern       = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
)

// writeObjects returns a file for each object, and the kustomization that lists them where the layout has one.
func writeObjects(in Input, objects resmap.ResMap, image string, layout catalogv1alpha1.Layout) (tree.Files, error) {
	all := objects.Resources()
	if len(all) == 0 || len(all) > guard.MaxObjects {
		return nil, errors.Errorf("%d objects were rendered: there must be 1 to %d", len(all), guard.MaxObjects)
	}
	stems := map[string]int{}
	for _, o := range all {
		if err := checkIdentity(o); err != nil {
			return nil, err
		}
		stems[fileStemOfObject(o)]++
	}
	files, variables := tree.Files{}, variablesFor(in)
	size := 0
	for _, o := range all {
		name := fileNameFor(o, stems)
		if _, ok := files[name]; ok {
			return nil, errors.Errorf("%s: was rendered twice", describeObject(o))
		}
		b, err := encodeDeclared(o, variables)
		if err != nil {
			return nil, err
		}
		if err := checkFollowsIntent(name, o, image); err != nil {
			return nil, err
		}
		if err := checkInstructions(in, o, b); err != nil {
			return nil, err
		}
		if size += len(b); size > maxOutputBytes {
			return nil, errors.Errorf("more than %d bytes were rendered", maxOutputBytes)
		}
		files[name] = b
	}
	if layout == catalogv1alpha1.LayoutManifests {
		return files, nil
	}
	return addKustomization(files)
}

// variablesFor returns the names of the variables that rendered objects may contain, or nil where the engine of the Site replaces none.
func variablesFor(in Input) []string {
	if in.Site.Expansion != expansion.ModePossible {
		return nil
	}
	return guard.Variables(in.Blueprint)
}

// encodeDeclared encodes an object, with a declaration of its variables where names are given.
func encodeDeclared(o *resource.Resource, names []string) ([]byte, error) {
	b, err := encodeObject(o)
	if err != nil || names == nil {
		return b, errors.Wrapf(err, "cannot encode %s", describeObject(o))
	}
	declared, err := guard.DeclareVariables(o, b, names)
	if err != nil || !declared {
		return b, err
	}
	b, err = encodeObject(o)
	return b, errors.Wrapf(err, "cannot encode %s", describeObject(o))
}

// addKustomization adds the kustomization that lists the files.
func addKustomization(files tree.Files) (tree.Files, error) {
	b, err := yaml.Marshal(map[string]any{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": files.Names()})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot encode %s", kustomizationFile)
	}
	files[kustomizationFile] = b
	return files, nil
}

// checkFollowsIntent returns an error for an object that could not follow the intent, whose image is given.
func checkFollowsIntent(file string, o *resource.Resource, image string) error {
	if err := guard.CheckImages(o, image); err != nil {
		return errors.Wrapf(err, "%s: %s", file, describeObject(o))
	}
	return checkCPULimit(file, o)
}

// checkInstructions returns an error for an object that a GitOps engine may leave alone, unless the Blueprint declares it.
func checkInstructions(in Input, o *resource.Resource, content []byte) error {
	object := instruction.Object{
		Object: policy.Object{Group: o.GetGvk().Group, Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()},
		Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Content: content,
	}
	return instruction.Check(object, in.Site.Engine, in.Blueprint.Spec.Unproven)
}

// checkIdentity returns an error for an object of kustomize without a valid apiVersion, kind, metadata.name or namespace.
func checkIdentity(o *resource.Resource) error {
	if !apiVersionPattern.MatchString(o.GetApiVersion()) {
		return errors.Errorf("%s: apiVersion %.64q is not valid", describeObject(o), o.GetApiVersion())
	}
	if !kindPattern.MatchString(o.GetKind()) {
		return errors.Errorf("%s: kind is not valid", describeObject(o))
	}
	if o.GetName() == "" {
		return errors.Errorf("%s: must have metadata.name", describeObject(o))
	}
	if len(o.GetName()) > 253 || len(content.IsPathSegmentName(o.GetName())) > 0 {
		return errors.Errorf("%s: name is not valid", describeObject(o))
	}
	if len(o.GetNamespace()) > 63 || len(content.IsPathSegmentName(o.GetNamespace())) > 0 {
		return errors.Errorf("%s: namespace is not valid", describeObject(o))
	}
	if o.Field("items") != nil && strings.HasSuffix(o.GetKind(), "List") {
		return errors.Errorf("%s: is a list: write each object as a separate document", describeObject(o))
	}
	return nil
}

func describeObject(o *resource.Resource) string {
	return guard.ShortenMessage(o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
}

// fileStemOfObject returns the stem of an object's file name, by its kind and name, which people search for.
func fileStemOfObject(o *resource.Resource) string {
	return policy.StemOf(o.GetKind(), o.GetName())
}

// fileNameFor returns the name of an object's file. Where several objects have this kind and name, or these do not fit into a file name as they
// are, it has a digest of the whole identity.
func fileNameFor(o *resource.Resource, stems map[string]int) string {
	s := fileStemOfObject(o)
	if stems[s] == 1 && len(s) <= maxStem && s == strings.ToLower(o.GetKind())+"-"+o.GetName() {
		return s + ".yaml"
	}
	group, _, _ := strings.Cut(o.GetApiVersion(), "/")
	sum := sha256.Sum256([]byte(strings.Join([]string{group, o.GetKind(), o.GetNamespace(), o.GetName()}, "\x00")))
	return s[:min(len(s), maxStem)] + "_" + hex.EncodeToString(sum[:5]) + ".yaml"
}
