package failure

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestOldReportsAreDeleted checks that the three newest reports are kept, and that other ConfigMaps are not touched.
func TestOldReportsAreDeleted(t *testing.T) {
	w := newTestEnv(t)
	foreign := []*corev1.ConfigMap{
		configMap(&metav1.ObjectMeta{Name: "somebody-elses"}, map[string]string{LabelDeployment: deploymentLabel(w.u), LabelRevision: "1"}),
		configMap(&metav1.ObjectMeta{Name: "shop-failed-r10"}, nil),
		// Its editor wrote the labels and the owner of a report.
		configMap(&metav1.ObjectMeta{Name: "settings"}, map[string]string{LabelDeployment: deploymentLabel(w.u), LabelRevision: "2"}),
	}
	foreign[2].OwnerReferences = []metav1.OwnerReference{{APIVersion: w.u.GetAPIVersion(), Kind: w.u.GetKind(), Name: w.u.GetName(), UID: w.u.GetUID()}}
	for _, cm := range foreign {
		if err := w.kube.Create(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
	}
	for revision := int64(7); revision <= 12; revision++ {
		w.rejectDelivery(w.newDelivery(revision, tree.Files{"a.yaml": []byte(plain)}))
		w.reconcileStatus(true, rejected(revision))
	}
	// A rollback that a user ordered is not a failure.
	d := w.rolledBack(w.newDelivery(13, nil))
	d.Spec.ForProvider.Copy.Withdraws = 12
	w.putDelivery(d)
	w.reconcileStatus(true, rejected(13))
	want := []string{"settings", "shop-failed-r10", "shop-failed-r11", "shop-failed-r12", "shop-failed-r9", "somebody-elses"}
	if diff := cmp.Diff(want, w.reportNames()); diff != "" {
		t.Errorf("Reconcile(...): ConfigMaps: -want, +got:\n%s", diff)
	}
	for _, name := range []string{"shop-failed-r9", "shop-failed-r11", "shop-failed-r12"} {
		if cm, s := w.getReport(name); len(cm.BinaryData) != 1 || len(s.Trees) != 1 {
			t.Errorf("%s: want one tree and its files, got %d archives and %v", name, len(cm.BinaryData), s.Trees)
		}
	}
}

// TestWithheldContent checks that a report contains no Secrets, and no tree that is too large.
func TestWithheldContent(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\nstringData: {password: hunter2}\n"
	large := deliveryv1alpha1.Tree{Site: "edge3", Files: make([]byte, 1)}
	w := newTestEnv(t)
	trees := w.newDelivery(2, tree.Files{"a.yaml": []byte(plain), "b.yaml": []byte(secret)}).Spec.ForProvider.Trees
	cm, err := newReportConfigMap(w.u, rejected(2), append(trees[:1], large), nil)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := tree.Decode(cm.BinaryData["edge1.tar.gz"])
	if diff := cmp.Diff(tree.Files{"a.yaml": []byte(plain)}, unpacked); err != nil || diff != "" {
		t.Errorf("tree: %v: -want, +got:\n%s", err, diff)
	}
	for _, want := range []string{`"withheld": "files with Secrets: b.yaml"`, `"withheld": "the tree is in Git under its id"`} {
		if !strings.Contains(cm.Data[summaryKey], want) {
			t.Errorf("summary: want %s in\n%s", want, cm.Data[summaryKey])
		}
	}
	if _, ok := cm.BinaryData["edge3.tar.gz"]; ok {
		t.Error("an unreadable tree is in the report")
	}
}

// TestReportSizeIsBounded reports a revision with more events, results and trees than fit.
func TestReportSizeIsBounded(t *testing.T) {
	w := newTestEnv(t)
	status, events := rejected(2), []corev1.Event{}
	for i := range 100 {
		status.ValidationResults = append(status.ValidationResults, deploymentv1alpha1.ValidationResult{Name: fmt.Sprint(i), Message: strings.Repeat("<", 1024)})
		events = append(events, corev1.Event{Message: strings.Repeat(">", 1024)})
	}
	cm, err := newReportConfigMap(w.u, status, nil, events)
	if err != nil {
		t.Fatal(err)
	}
	got := summary{}
	if err := json.Unmarshal([]byte(cm.Data[summaryKey]), &got); err != nil {
		t.Fatal(err)
	}
	if n := len(cm.Data[summaryKey]); n > maxSaidBytes || got.Reason != "GateFailed" || len(got.Results) == 0 {
		t.Errorf("summary: %d bytes, reason %q and %d results", n, got.Reason, len(got.Results))
	}
}

// TestSummaryIsShortened encodes summaries of which one part alone is larger than the limit.
func TestSummaryIsShortened(t *testing.T) {
	large := strings.Repeat("x", 2*maxSaidBytes)
	cases := map[string]struct {
		reason  string
		summary summary
		isError bool
	}{
		"Events":      {reason: "Events are dropped.", summary: summary{Events: []eventSummary{{Message: large}}}},
		"Results":     {reason: "Results are dropped.", summary: summary{Results: []deploymentv1alpha1.ValidationResult{{Message: large}}}},
		"Trees":       {reason: "Trees are dropped.", summary: summary{Trees: []treeSummary{{Withheld: large}}}},
		"Transitions": {reason: "Transitions are dropped.", summary: summary{Transitions: []deploymentv1alpha1.Transition{{Rejected: large}}}},
		"Message":     {reason: "A message is cut.", summary: summary{Message: large}},
		"Reason":      {reason: "A reason is never cut, so the report is an error.", summary: summary{Reason: large}, isError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := tc.summary.encodeWithinLimit()
			if (err != nil) != tc.isError || len(text) > maxSaidBytes {
				t.Errorf("\n%s\nencodeWithinLimit(): %d bytes, %v", tc.reason, len(text), err)
			}
		})
	}
}
