package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// maxUIDBytes is the greatest length of a UID in a status. The API server refuses a whole status with a longer one, and so the results of all checks of a Gate.
const maxUIDBytes = 64

// UsableUID returns the UID that a cluster gave to a Job, or "" for a UID that no status can have: RefuseForeign refuses a Job with it.
func UsableUID(uid types.UID) types.UID {
	if len(uid) > maxUIDBytes {
		return ""
	}
	return uid
}

// RefuseForeign returns why a Job is not the Job that the provider created, or "". The provider's own has the UID that is known. While none is known, it has the
// nonce from the status, or is equal to the desired Job of the check: an equal Job runs the check, even if another client created it. The object o is the Job j
// with all of its fields.
func RefuseForeign(in Input, recorded *v1alpha1.CheckJobReference, o *unstructured.Unstructured, j *batchv1.Job) string {
	switch uid := string(j.GetUID()); {
	case len(uid) > maxUIDBytes:
		return "the cluster gives the Job a UID that is too long"
	case recorded == nil:
	case recorded.UID != "" && recorded.UID != uid:
		return statusmessage.Sanitize("the Job was replaced: the cluster has another Job of this name, with UID " + uid)
	case recorded.UID == uid, HasNonce(j, recorded.NonceDigest):
		return ""
	}
	if field := Differs(in, o); field != "" {
		return statusmessage.Sanitize("the cluster has another Job of this name, which differs in " + field)
	}
	return ""
}
