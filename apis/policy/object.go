package policy

import (
	"bufio"
	"bytes"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
)

// maxObjects is the greatest number of objects in one file.
const maxObjects = 500

// fileName is the name of a file in a directory, or in a folder of a directory with tracks.
var fileName = regexp.MustCompile(`^((blue|green|plain|shared)/)?[a-z0-9][a-z0-9._-]*\.yaml$`)

// decodeObjects reads the objects of a file. It refuses files that an engine could read in another way than we do: other kinds of
// files, lists, documents that are not objects, and fields that come twice.
func decodeObjects(name string, b []byte) ([]*unstructured.Unstructured, error) {
	if !fileName.MatchString(name) || isKustomization(path.Base(name)) {
		return nil, errors.New("only flat files with lower-case names that end with .yaml may be delivered, and such files in the folders of tracks")
	}
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(b)))
	var out []*unstructured.Unstructured
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.Wrap(err, "cannot read YAML")
		}
		o, err := decodeObject(doc)
		if err != nil {
			return nil, err
		}
		if out = append(out, o); len(out) > maxObjects {
			return nil, errors.Errorf("more than %d objects in one file", maxObjects)
		}
	}
}

func isKustomization(name string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "kustomization"}, strings.ToLower(name))
}

func decodeObject(doc []byte) (*unstructured.Unstructured, error) {
	var m map[string]any
	if err := decodeSingleDocument(doc, &m); err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{Object: m}
	if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
		return nil, errors.New("a document is not an object with apiVersion, kind and metadata.name")
	}
	if _, ok := m["items"]; ok && strings.HasSuffix(o.GetKind(), "List") {
		return nil, errors.Errorf("%s is a list: write each object as a separate document", o.GetKind())
	}
	return o, nil
}

// decodeSingleDocument decodes YAML that must be one document. Decoding reads the first document alone, and an engine would read further
// documents: documents can be separated in more ways than by a line of three dashes.
func decodeSingleDocument(doc []byte, into any) error {
	if !isEvidentlySingleDocument(doc) {
		if err := checkSingleDocument(doc); err != nil {
			return err
		}
	}
	return errors.Wrap(boundedyaml.UnmarshalStrict(doc, into), "cannot decode YAML")
}

func checkSingleDocument(doc []byte) error {
	d := kyaml.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(&kyaml.Node{}); err != nil {
		return errors.Wrap(err, "cannot decode YAML")
	}
	if err := d.Decode(&kyaml.Node{}); !errors.Is(err, io.EOF) {
		return errors.New("cannot decode YAML: documents must be separated by a line of three dashes and nothing else")
	}
	return nil
}

// isEvidentlySingleDocument reports whether YAML is one document, as far as that is known without a parser. A mapping that begins in the first column with
// a-z, and so not with a brace, ends where the YAML ends or where a line begins with a marker: three dashes, three dots or a percent
// sign. With nothing but printable ASCII there is one way to say where lines begin.
func isEvidentlySingleDocument(doc []byte) bool {
	if len(doc) == 0 || doc[0] < 'a' || doc[0] > 'z' {
		return false
	}
	if slices.ContainsFunc(doc, func(c byte) bool { return c != '\n' && (c < ' ' || c > '~') }) {
		return false
	}
	return !slices.ContainsFunc([]string{"\n---", "\n...", "\n%"}, func(marker string) bool { return bytes.Contains(doc, []byte(marker)) })
}

// checkObject checks the limits first: the message about a forbidden object does not depend on whether it is well-formed.
func checkObject(in Input, o *unstructured.Unstructured) error {
	if err := checkLimits(in, o); err != nil {
		return err
	}
	if err := expansion.Check(o, expansion.ModeAt(in.Site.Spec.Engine), in.DeliveredVariables); err != nil {
		return errors.Wrapf(err, "%s %q", o.GroupVersionKind().GroupKind(), o.GetName())
	}
	return checkStructure(in, o)
}

func checkLimits(in Input, o *unstructured.Unstructured) error {
	if err := checkSecret(in, o); err != nil {
		return err
	}
	if err := checkRouteHosts(in, o); err != nil {
		return err
	}
	gk := o.GroupVersionKind().GroupKind()
	if isClusterScoped(in, o) {
		return checkClusterScoped(in, gk, o.GetName())
	}
	if err := checkObjectKind(in, o); err != nil {
		return err
	}
	return checkNamespace(in, gk, o)
}

// allowsPlainSecrets reports whether Secrets may be in Git without encryption. A ProviderConfig only narrows, so it cannot allow that.
func allowsPlainSecrets(in Input) bool {
	return in.ConfigKind == KindClusterProviderConfig && in.Config.Policy.PlainSecrets == configv1alpha1.PlainSecretsAllow
}

// isClusterScoped reports whether an object is certainly or possibly in no namespace. An API server drops the namespace of a
// cluster-scoped object, so the object's own namespace counts only for unknown kinds. A delivered definition that calls a
// kind namespaced proves nothing: the definition in the cluster may differ.
func isClusterScoped(in Input, o *unstructured.Unstructured) bool {
	gk := o.GroupVersionKind().GroupKind()
	if namespaced, isBuiltIn := scopeOfKind(gk); isBuiltIn {
		return !namespaced
	}
	namespaced, isDefined := in.Definitions.Namespaced(gk)
	return isDefined && !namespaced || o.GetNamespace() == ""
}

func checkClusterScoped(in Input, gk schema.GroupKind, name string) error {
	if in.Site.Spec.TargetNamespaces.ClusterScoped != catalogv1alpha1.ClusterScopedAllow {
		return errors.Errorf("%s %q: the Site's spec.targetNamespaces.clusterScoped does not allow objects in no namespace", gk, name)
	}
	if in.ConfigKind != KindClusterProviderConfig || !isKindAllowed(in.Config.Policy.AllowedKinds, gk) {
		return errors.Errorf("%s %q: a cluster-scoped kind must be named in spec.policy.allowedKinds of a ClusterProviderConfig", gk, name)
	}
	return nil
}

// checkObjectKind returns an error for a kind that may not be used. Without a list every kind that is known to be namespaced may be used. An unknown kind could be
// cluster-scoped, regardless of the namespace of its objects, so a ClusterProviderConfig has to name it: a ProviderConfig only narrows.
func checkObjectKind(in Input, o *unstructured.Unstructured) error {
	gk := o.GroupVersionKind().GroupKind()
	_, isKnown := scopeOfKind(gk)
	if !isKnown && in.ConfigKind != KindClusterProviderConfig {
		return errors.Errorf("%s %q: a kind that is not Kubernetes' own must be named in spec.policy.allowedKinds of a ClusterProviderConfig", gk, o.GetName())
	}
	if isKnown && len(in.Config.Policy.AllowedKinds) == 0 || isKindAllowed(in.Config.Policy.AllowedKinds, gk) {
		return nil
	}
	return errors.Errorf("%s %q: spec.policy.allowedKinds does not name this kind", gk, o.GetName())
}

func isKindAllowed(sets []configv1alpha1.KindSet, gk schema.GroupKind) bool {
	return slices.ContainsFunc(sets, func(s configv1alpha1.KindSet) bool {
		return s.Group == gk.Group && containsOrStar(s.Kinds, gk.Kind)
	})
}

func checkNamespace(in Input, gk schema.GroupKind, o *unstructured.Unstructured) error {
	switch ns := o.GetNamespace(); {
	case ns == "":
		return errors.Errorf("%s %q: metadata.namespace is missing", gk, o.GetName())
	case !allowsNamespace(in, ns):
		return errors.Errorf("%s %q: the Site's spec.targetNamespaces.allowed does not allow namespace %q", gk, o.GetName(), ns)
	}
	return nil
}

func allowsNamespace(in Input, namespace string) bool {
	return AllowsTarget(in.Site, in.Claim.Namespace, namespace)
}

// AllowsTarget reports whether a claim of a namespace may deliver objects to a namespace of a Site's cluster. It may not observe a namespace that it
// may not write to.
func AllowsTarget(site *catalogv1alpha1.Site, claimNamespace, namespace string) bool {
	return slices.ContainsFunc(site.Spec.TargetNamespaces.Allowed, func(allowed string) bool {
		return allowed == every || allowed == namespace || allowed == ownNamespace && namespace == claimNamespace
	})
}
