package samples

import (
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Objects returns the objects of a sample, as an API server has them. It returns an error for an object that cannot be encoded.
func (s *Sample) Objects() ([]*unstructured.Unstructured, error) {
	f := s.Facts()
	all := []any{&f.Deployment, &f.Deliveries[0], &f.Syncs[0]}
	if len(f.Gates) > 0 {
		all = append(all, &f.Gates[0])
	}
	return encodeObjects(all)
}

// encodeObjects returns objects as an API server has them.
func encodeObjects(all []any) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, o := range all {
		b, err := json.Marshal(o)
		if err != nil {
			return nil, errors.Wrap(err, "cannot encode object")
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(b, &u.Object); err != nil {
			return nil, errors.Wrap(err, "cannot decode object")
		}
		out = append(out, u)
	}
	return out, nil
}
