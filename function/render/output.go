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
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
)

// Bounds of what is rendered for one Site.
const (
	maxObjects     = 500
	maxOutputBytes = 4 << 20
	maxStem        = 200
)

var (
	apiVersion = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[a-z0-9]{1,62}$`)
	kind       = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
)

// output writes each object to a file of its own.
func output(objects resmap.ResMap, image string, layout catalogv1alpha1.Layout) (tree.Files, error) {
	all := objects.Resources()
	if len(all) == 0 || len(all) > maxObjects {
		return nil, errors.Errorf("%d objects were rendered: there must be 1 to %d", len(all), maxObjects)
	}
	stems := map[string]int{}
	for _, o := range all {
		if err := checkObject(o); err != nil {
			return nil, err
		}
		stems[stem(o)]++
	}
	files := tree.Files{}
	size := 0
	for _, o := range all {
		name := fileFor(o, stems)
		if _, ok := files[name]; ok {
			return nil, errors.Errorf("%s: was rendered twice", describe(o))
		}
		b, err := encode(o)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot encode %s", describe(o))
		}
		if err := checkFollowed(name, o, image); err != nil {
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
	return enlist(files)
}

// enlist adds the kustomization that lists the files.
func enlist(files tree.Files) (tree.Files, error) {
	b, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  files.Names(),
	})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot encode %s", kustomizationFile)
	}
	files[kustomizationFile] = b
	return files, nil
}

func checkObject(o *resource.Resource) error {
	if !apiVersion.MatchString(o.GetApiVersion()) {
		return errors.Errorf("%s: apiVersion %.64q is not valid", describe(o), o.GetApiVersion())
	}
	if !kind.MatchString(o.GetKind()) {
		return errors.Errorf("%s: kind is not valid", describe(o))
	}
	if o.GetName() == "" {
		return errors.Errorf("%s: must have a name: generateName cannot be delivered", describe(o))
	}
	if len(o.GetName()) > 253 || len(content.IsPathSegmentName(o.GetName())) > 0 {
		return errors.Errorf("%s: name is not valid", describe(o))
	}
	if len(o.GetNamespace()) > 63 || len(content.IsPathSegmentName(o.GetNamespace())) > 0 {
		return errors.Errorf("%s: namespace is not valid", describe(o))
	}
	if o.Field("items") != nil && strings.HasSuffix(o.GetKind(), "List") {
		return errors.Errorf("%s: is a list: each object must stand for itself", describe(o))
	}
	return nil
}

func describe(o *resource.Resource) string {
	return brief(o.GetKind() + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
}

// stem of an object's file name: what people look for.
func stem(o *resource.Resource) string {
	return policy.StemOf(o.GetKind(), o.GetName())
}

// fileFor names an object's file. Where kind and name do not tell objects apart, or do not fit into a file name as they are, a
// digest of the whole identity does.
func fileFor(o *resource.Resource, stems map[string]int) string {
	s := stem(o)
	if stems[s] == 1 && len(s) <= maxStem && s == strings.ToLower(o.GetKind())+"-"+o.GetName() {
		return s + ".yaml"
	}
	group, _, _ := strings.Cut(o.GetApiVersion(), "/")
	sum := sha256.Sum256([]byte(strings.Join([]string{group, o.GetKind(), o.GetNamespace(), o.GetName()}, "\x00")))
	return s[:min(len(s), maxStem)] + "_" + hex.EncodeToString(sum[:5]) + ".yaml"
}
