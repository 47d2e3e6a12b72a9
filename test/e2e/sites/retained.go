package sites

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/patience"
)

// setRetention sets whether reports of rejected revisions are kept.
func (r *trial) setRetention(o *unstructured.Unstructured, retain bool) *unstructured.Unstructured {
	return r.Set(o, retain, "spec", "rollbackConfig", "retainFailedArtifacts")
}

// A retained report from its summary.
type retained struct {
	Reason string `json:"reason"`
	Trees  []struct {
		Site     string `json:"site"`
		Path     string `json:"path"`
		Tree     string `json:"tree"`
		Withheld string `json:"withheld"`
	} `json:"trees"`
}

// awaitReport waits for the report about a revision, with the files of edge1's tree, if it has any.
func (r *trial) awaitReport(revision int) (retained, tree.Files) {
	r.T.Helper()
	cm, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: r.Namespace, Name: fmt.Sprintf("%s-failed-r%d", claim, revision)}
	r.Until("there is "+key.String(), patience.Limit, func() bool { return r.Client.Get(r.T.Context(), key, cm) == nil })
	out := retained{}
	r.Must(json.Unmarshal([]byte(cm.Data["summary.json"]), &out))
	if out.Reason != "GateFailed" || len(out.Trees) != 1 || out.Trees[0].Site != r.Site("edge1") || out.Trees[0].Path != r.Directory("edge1", claim) {
		r.T.Fatalf("report about revision %d: want one tree of edge1 whose gate failed, got %+v", revision, out)
	}
	packed, ok := cm.BinaryData[r.Site("edge1")+".tar.gz"]
	if !ok {
		return out, nil
	}
	files, err := tree.Decode(packed)
	r.Must(err)
	return out, files
}
