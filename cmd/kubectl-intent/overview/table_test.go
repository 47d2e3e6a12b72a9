package overview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func rowOf(name string, s *samples.Sample) Row {
	f := s.Facts()
	f.Deployment.Metadata.Name = name
	// A list reads the deployments alone.
	f.Deliveries, f.Syncs, f.Gates = nil, nil, nil
	return RowForDeployment(f, cause.FindForDeployment(f, samples.Now()))
}

func waitingCluster() *cause.ClusterFacts {
	f := &cause.ClusterFacts{}
	f.Cluster.APIVersion, f.Cluster.Kind = "intentplane.dev/v1alpha1", "WorkloadCluster"
	f.Cluster.Metadata = metav1.ObjectMeta{Namespace: "team-b", Name: "prod"}
	f.Cluster.Status.Phase, f.Cluster.Status.Message = workloadclusterv1alpha1.PhaseProvisioning, "Workspace prod-vpc: TerraformFailed: no such region"
	f.Cluster.Status.Conditions = cause.Conditions{
		{Type: workloadclusterv1alpha1.TypeStalled, Status: metav1.ConditionFalse, Reason: workloadclusterv1alpha1.ReasonProgressing},
		{Type: workloadclusterv1alpha1.TypeReconciling, Status: metav1.ConditionTrue, Reason: workloadclusterv1alpha1.ReasonProgressing},
	}
	f.Cluster.Status.Version = "v1.31.2"
	f.Cluster.Status.Blocker = &clusterv1alpha1.Blocker{Kind: "Workspace", Name: "prod-vpc", Reason: "TerraformFailed", Message: "no such region"}
	return f
}

func allRows() []Row {
	f := waitingCluster()
	rows := []Row{
		rowOf("search", samples.RollingBack()), RowForCluster(f, cause.FindForCluster(f, samples.Now())), rowOf("shop", samples.Verified()),
		rowOf("cart", samples.WrongPassword()),
		rowOf("bank", samples.Canary(true)), rowOf("blog", samples.RolledBack()),
	}
	SortRows(rows)
	return rows
}

func TestTable(t *testing.T) {
	cases := map[string]struct {
		reason        string
		rows          []Row
		style         Style
		withNamespace bool
		want          string
	}{
		"Namespace": {
			reason: "A list of one namespace does not name it, and leaves out a column that no row has.", rows: Stuck(allRows()[:4]), style: Style{Now: samples.Now()},
			want: `
NAME  PHASE       REV  LIVE  SITES  STEP     SINCE  REASON             WHO
bank  Delivering  7    5     2/2    2/4 20%  0m41s  AwaitingPromotion  author
blog  RolledBack  7    5     2/2             0m41s  RolledBack         author
cart  Delivering  7    5     0/2             0m41s  AuthFailed         platform team`,
		},
		"All": {
			reason: "A list of all namespaces has deployments and clusters, sorted.", rows: allRows(), style: Style{Now: samples.Now()}, withNamespace: true,
			want: `
NAMESPACE  NAME    PHASE         REV  LIVE  SITES  STEP     SINCE  REASON             WHO
team-a     bank    Delivering    7    5     2/2    2/4 20%  0m41s  AwaitingPromotion  author
team-a     blog    RolledBack    7    5     2/2             0m41s  RolledBack         author
team-a     cart    Delivering    7    5     0/2             0m41s  AuthFailed         platform team
team-a     search  RollingBack   7          1/2             0m41s  Progressing
team-a     shop    Succeeded     7    7     2/2             0m41s
team-b     prod    Provisioning                                    TerraformFailed    platform team`,
		},
		"Terminal": {
			reason: "Deployments that need a person are listed alone, and cut at the width of the terminal.",
			rows:   Stuck(allRows()), style: style(), withNamespace: true,
			want: `
NAMESPACE  NAME  PHASE         REV  LIVE  SITES  STEP     SINCE  REASON...
team-a     bank  Delivering    7    5     2/2    2/4 20%  0m41s  AwaitingProm...
team-a     blog  RolledBack    7    5     2/2             0m41s  RolledBack...
team-a     cart  Delivering    7    5     0/2             0m41s  AuthFailed...
team-b     prod  Provisioning                                    TerraformFai...`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := "\n" + strings.Join(Table(tc.rows, tc.style, tc.withNamespace), "\n")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nTable(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPresentRequest lists deployments whose revision was rolled back, and that have another request since.
func TestPresentRequest(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*samples.Sample)
		stale  bool
		want   string
	}{
		"RolledBack": {reason: "The desired revision was rolled back.", want: "RolledBack"},
		"Suspended": {
			reason: "A request that spec.suspend holds back was not rolled back.",
			edit:   func(s *samples.Sample) { s.Input.Holds.Start = step.HoldSuspended }, want: "HeldBack",
		},
		"Outranked": {
			reason: "A request that a newer version of the function takes up was not rolled back.",
			edit:   func(s *samples.Sample) { s.Input.Holds.Start = step.HoldOutranked }, want: "HeldBack",
		},
		"Edited": {reason: "A spec that the status does not speak about was not rolled back.", stale: true, want: "Pending"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := samples.RolledBack()
			if tc.edit != nil {
				tc.edit(s)
			}
			f := s.Facts()
			if tc.stale {
				f.SpecDigest = "another"
			}
			row := RowForDeployment(f, cause.FindForDeployment(f, samples.Now()))
			line := Table([]Row{row}, Style{Now: samples.Now()}, false)[1]
			if got := strings.Fields(line)[1]; got != tc.want {
				t.Errorf("\n%s\nTable(...): want phase %s, got: %s", tc.reason, tc.want, line)
			}
			if row.Outcome != tc.want && tc.want != "Pending" {
				t.Errorf("\n%s\nRowForDeployment(...): want outcome %s, got %q", tc.reason, tc.want, row.Outcome)
			}
		})
	}
}

func TestWideTable(t *testing.T) {
	s := style()
	s.IsWide = true
	got := Table(allRows(), s, true)
	if !strings.Contains(got[0], "KIND") || !strings.HasSuffix(got[6], "WorkloadCluster.intentplane.dev   Workspace prod-vpc: TerraformFailed: no such region") {
		t.Errorf("a wide list does not have the kind and the message:\n%s", strings.Join(got, "\n"))
	}
}

// TestCluster shows a WorkloadCluster, and why it is not ready.
func TestCluster(t *testing.T) {
	f := waitingCluster()
	f.Managed = &clusterv1alpha1.ManagedCluster{}
	f.Managed.Name = "prod-x"
	f.Managed.SetConditions(samples.NotReady("TerraformFailed", "Workspace prod-vpc: no such region"))
	f.Managed.Status.AtProvider.Objects = []clusterv1alpha1.ClusterObject{
		{Kind: "Cluster", Name: "prod", Reason: "Provisioning"}, {Kind: "WorkspaceTemplateApply", Name: "prod-vpc", Ready: true},
	}
	o := ForCluster(f, cause.FindForCluster(f, samples.Now()))
	want := `
prod  team-b  WorkloadCluster intentplane.dev                       Provisioning
Workspace prod-vpc: TerraformFailed: no such region
Next: Correct the error of Terraform in the message (for the platform team).
version v1.31.2
├─ Cluster prod     Provisioning
└─ WorkspaceTemplateAppl... Ready
prod  team-b  WorkloadCluster intentplane.dev                       Provisioning
Cause:      Workspace prod-vpc: TerraformFailed: no such region
Since:      14:03:00 (0m40s)
Who acts:   the platform team
What to do: Correct the error of Terraform in the message.
Wakes it:   the provider, which watches the awaited objects
Followed:
└─ WorkloadCluster prod: Progressing: Workspace prod-vpc: TerraformFailed: no...
  └─ ManagedCluster prod-x: TerraformFailed: Workspace prod-vpc: no such region
    └─ Workspace prod-vpc: TerraformFailed: no such region`
	got := "\n" + strings.Join(append(Lines(o, style()), WhyLines(o, style())...), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
