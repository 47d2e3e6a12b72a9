// Package digest computes the digests that identify requests and specs. They are computed over canonical JSON without fields that equal their defaults, so
// that a field which is added later, with a default, changes no digest.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Scheme is the version of the rules in this package. Digests of different schemes cannot be compared.
const Scheme int32 = 1

const prefix = "sha256:"

// Of returns the digest of v's canonical JSON, without the fields that have the same value in defaults. Nil defaults leave
// nothing out. It returns an error when v cannot be encoded.
func Of(v, defaults any) (string, error) {
	set, err := withoutDefaults(v, defaults)
	if err != nil {
		return "", err
	}
	// The encoder sorts the keys of maps.
	b, err := json.Marshal(set)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode the digest's input")
	}
	sum := sha256.Sum256(b)
	return prefix + hex.EncodeToString(sum[:]), nil
}

// Spec returns the digest of a whole spec as the user wrote it. It is the value of status.intentDigest. A field that equals
// its schema default counts as absent. It returns an error when the spec cannot be encoded.
func Spec(s *deploymentv1alpha1.IntentDeploymentSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &deploymentv1alpha1.IntentDeploymentSpec{}))
}

// Set returns the fields of a spec that do not equal their default, as JSON would hold them. It returns an error when the spec
// cannot be encoded.
func Set(s *deploymentv1alpha1.IntentDeploymentSpec) (map[string]any, error) {
	set, err := withoutDefaults(withDefaults(s.DeepCopy(), &deploymentv1alpha1.IntentDeploymentSpec{}))
	out, _ := set.(map[string]any)
	return out, err
}

// A spec has defaults.
type spec interface {
	// Default applies the schema defaults.
	Default()
}

// withDefaults applies the defaults to a spec, and to an empty spec with the same blocks, which then has nothing but defaults. Defaults in
// an optional block count only if the user wrote the block.
func withDefaults[S spec](full, empty S) (S, S) {
	full.Default()
	copyEmptyBlocks(reflect.ValueOf(full).Elem(), reflect.ValueOf(empty).Elem())
	empty.Default()
	return full, empty
}

// copyEmptyBlocks creates in target an empty counterpart of each block that source has, and of each item of its lists.
func copyEmptyBlocks(source, target reflect.Value) {
	switch source.Kind() {
	case reflect.Pointer:
		if source.IsNil() || source.Type().Elem().Kind() != reflect.Struct {
			return
		}
		target.Set(reflect.New(source.Type().Elem()))
		copyEmptyBlocks(source.Elem(), target.Elem())
	case reflect.Struct:
		for i := range source.NumField() {
			copyEmptyBlocks(source.Field(i), target.Field(i))
		}
	case reflect.Slice:
		if source.Len() == 0 || source.Type().Elem().Kind() != reflect.Struct {
			return
		}
		target.Set(reflect.MakeSlice(source.Type(), source.Len(), source.Len()))
		for i := range source.Len() {
			copyEmptyBlocks(source.Index(i), target.Index(i))
		}
	default:
	}
}

// withoutDefaults returns v as JSON would hold it, without the fields that have the same value in defaults.
func withoutDefaults(v, defaults any) (any, error) {
	full, err := toJSONValue(v)
	if err != nil {
		return nil, err
	}
	base, err := toJSONValue(defaults)
	return stripDefaults(full, base), err
}

func toJSONValue(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the digest's input")
	}
	var out any
	err = json.Unmarshal(b, &out)
	return out, errors.Wrap(err, "cannot decode the digest's input")
}

// stripDefaults returns v without the fields that equal their value in base. It keeps the length of lists.
func stripDefaults(v, base any) any {
	switch v := v.(type) {
	case map[string]any:
		b, _ := base.(map[string]any)
		return stripMapDefaults(v, b)
	case []any:
		b, _ := base.([]any)
		return stripListDefaults(v, b)
	}
	return v
}

func stripMapDefaults(v, base map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range v {
		def, hasDefault := base[key]
		if hasDefault && reflect.DeepEqual(value, def) {
			continue
		}
		out[key] = stripDefaults(value, def)
	}
	return out
}

func stripListDefaults(v, base []any) []any {
	out := make([]any, len(v))
	for i := range v {
		var def any
		if i < len(base) {
			def = base[i]
		}
		out[i] = stripDefaults(v[i], def)
	}
	return out
}
