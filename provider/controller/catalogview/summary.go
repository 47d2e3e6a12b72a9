package catalogview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/intentplane/intentplane/apis/catalogview"
)

// keySum is the one key of a ConfigMap in the cache: the digest of its documents stands for them, which may be large together.
const keySum = "sum"

// CacheOptions are those of ConfigMaps in the cache of the manager: those of this package alone are watched, and remembered by the digest of their documents.
func CacheOptions() cache.ByObject {
	return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", catalogview.ConfigMapName), Transform: summarise}
}

// summarise replaces the documents of a ConfigMap by their digest, and leaves out what is not read.
func summarise(o any) (any, error) {
	cm, ok := o.(*corev1.ConfigMap)
	if !ok {
		return o, nil
	}
	cm.Data = map[string]string{keySum: sumOf(cm.Data)}
	cm.BinaryData, cm.ManagedFields, cm.Annotations, cm.Labels = nil, nil, nil, nil
	return cm, nil
}

// sumOf returns the digest of the documents in a ConfigMap. Other keys do not count.
func sumOf(data map[string]string) string {
	sites, blueprints := data[catalogview.KeySites], data[catalogview.KeyBlueprints]
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(sites), sites, blueprints))
	return hex.EncodeToString(sum[:])
}
