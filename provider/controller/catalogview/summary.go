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

// keySum is the only key of a ConfigMap in the cache: the digest of its documents, which may be large together.
const keySum = "sum"

// CacheOptions are the options of the manager's cache for ConfigMaps: only ConfigMaps of this package are watched, and cached as the digest
// of their documents.
func CacheOptions() cache.ByObject {
	return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", catalogview.ConfigMapName), Transform: summariseConfigMap}
}

// summariseConfigMap replaces the documents of a ConfigMap by their digest, and drops unused fields.
func summariseConfigMap(o any) (any, error) {
	cm, ok := o.(*corev1.ConfigMap)
	if !ok {
		return o, nil
	}
	cm.Data = map[string]string{keySum: documentDigest(cm.Data)}
	cm.BinaryData, cm.ManagedFields, cm.Annotations, cm.Labels = nil, nil, nil, nil
	return cm, nil
}

// documentDigest returns the digest of the documents in a ConfigMap. Other keys do not count.
func documentDigest(data map[string]string) string {
	sites, blueprints := data[catalogview.KeySites], data[catalogview.KeyBlueprints]
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(sites), sites, blueprints))
	return hex.EncodeToString(sum[:])
}
