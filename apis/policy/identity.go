package policy

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Object names an object in a cluster. Two names that differ only in the API version are one object.
type Object struct {
	// Group and Kind of the object.
	Group, Kind string

	// Namespace of the object. Empty for a cluster-scoped one.
	Namespace string

	// Name of the object.
	Name string
}

// String returns the kind and the name, as people write them.
func (o Object) String() string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// unsafeInFileName matches characters that are not allowed in a file name.
var unsafeInFileName = regexp.MustCompile(`[^a-z0-9.-]`)

// digestSuffix distinguishes the files of objects with one stem.
var digestSuffix = regexp.MustCompile(`_[0-9a-f]{10}$`)

// StemOf returns the name of a rendered object's file without its extension and without the digest that distinguishes objects of one kind and name.
func StemOf(kind, name string) string {
	return unsafeInFileName.ReplaceAllString(strings.ToLower(kind+"-"+name), "-")
}

// StemOfFile returns the stem of a rendered object's file.
func StemOfFile(name string) string {
	return digestSuffix.ReplaceAllString(strings.TrimSuffix(name, ".yaml"), "")
}

// DecodeFile returns the objects of a file as they are written. It returns none for a file that holds anything else, which CheckTree refuses.
func DecodeFile(name string, content []byte) []*unstructured.Unstructured {
	all, err := decodeObjects(name, content)
	if err != nil {
		return nil
	}
	return all
}

// ObjectsIn returns the objects of a file. It returns none for a file that holds anything else, which CheckTree refuses.
func ObjectsIn(name string, content []byte) []Object {
	all := DecodeFile(name, content)
	if all == nil {
		return nil
	}
	out := make([]Object, 0, len(all))
	for _, o := range all {
		gv, err := schema.ParseGroupVersion(o.GetAPIVersion())
		if err != nil {
			return nil
		}
		out = append(out, Object{Group: gv.Group, Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return out
}
