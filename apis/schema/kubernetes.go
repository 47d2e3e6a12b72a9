package schema

import (
	"bytes"
	"compress/gzip"
	_ "embed" // The schemas of Kubernetes' own kinds.
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

//go:embed kubernetes.json.gz
var packed []byte

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// kubernetes is decoded when it is first needed, and never changes.
var kubernetes = sync.OnceValues(loadKubernetes) //nolint:gochecknoglobals // See above.

// Kubernetes returns the schemas of Kubernetes' own kinds, in the versions that it serves. It returns an error when the built-in
// schemas cannot be decoded.
func Kubernetes() (*Set, error) {
	k, err := kubernetes()
	if err != nil {
		return nil, err
	}
	return k.set, nil
}

// builtin has the built-in schemas, and the schema of metadata.
type builtin struct {
	set  *Set
	meta spec.Schema
}

func loadKubernetes() (*builtin, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress Kubernetes' schemas")
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress Kubernetes' schemas")
	}
	slim := struct {
		Definitions map[string]spec.Schema `json:"definitions"`
		Kinds       map[string]string      `json:"kinds"`
	}{}
	if err := json.Unmarshal(b, &slim); err != nil {
		return nil, errors.Wrap(err, "cannot decode Kubernetes' schemas")
	}
	c := closer{definitions: slim.Definitions, done: map[string]*spec.Schema{}}
	set := &Set{kinds: map[schema.GroupVersionKind]*spec.Schema{}}
	for kind, name := range slim.Kinds {
		version, kind, _ := strings.Cut(kind, " ")
		set.kinds[schema.FromAPIVersionAndKind(version, kind)] = c.closedDefinition(name)
	}
	return &builtin{set: set, meta: *c.closedDefinition(objectMeta)}, nil
}
