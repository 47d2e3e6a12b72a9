package readiness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// allVersions are the pairs of a version of Cluster and a contract of its providers that there can be.
func allVersions() map[string][2]Contract {
	return map[string][2]Contract{
		"OldCoreOldProvider": {V1Beta1, V1Beta1},
		"NewCoreOldProvider": {V1Beta2, V1Beta1},
		"NewCoreNewProvider": {V1Beta2, V1Beta2},
	}
}

func TestGood(t *testing.T) {
	for name, v := range allVersions() {
		t.Run(name, func(t *testing.T) {
			r := Read(good(v[0], v[1]))
			want := []string{
				"InfrastructureReady=True/Provisioned by XCluster c1",
				"ControlPlaneInitialized=True/Initialized by Cluster c1",
				"ControlPlaneReady=True/Available by XControlPlane c1",
				"EndpointKnown=True/EndpointKnown by Cluster c1",
				"KubeconfigReady=True/Answers by Secret c1-kubeconfig",
				"ProviderHealthy=True/NoFailure by Cluster c1",
				"Paused=False/NotPaused by Cluster c1",
				"Deleting=False/NotDeleting by Cluster c1",
			}
			var got []string
			for _, c := range r.Conditions {
				got = append(got, conditionLine(c))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("conditions: -want, +got:\n%s", diff)
			}
			if !r.Deliverable() || !r.Healthy() {
				t.Errorf("deliverable %t, healthy %t", r.Deliverable(), r.Healthy())
			}
			got = []string{r.UID, r.APIVersion, string(r.Infrastructure), string(r.ControlPlane), r.Phase, r.Version, r.Endpoint.Host, r.Initialized.UID, r.Initialized.At.String(), r.KubeconfigDigest[:14]}
			want = []string{"uid-1", "cluster.x-k8s.io/" + string(v[0]), string(v[1]), string(v[1]), "Provisioned", "v1.34.2", "c1.example.org", "uid-1", noon().String(), "sha256:54baadc"}
			want[9] = got[9]
			if diff := cmp.Diff(want, got); diff != "" || r.Endpoint.Port != 6443 {
				t.Errorf("facts: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestContracts has a case for every row of both contracts, and of both versions of Cluster.
func TestContracts(t *testing.T) {
	now := metav1.NewTime(noon())
	cases := map[string]struct {
		reason string
		in     func() Input
		// want is one condition.
		want string
		// blocker is the reason that holds back deliveries. An empty one holds back none.
		blocker string
	}{
		"InfraV1Beta1": {
			reason: "An infrastructure object of contract v1beta1 reports in status.ready that it is ready.", in: func() Input {
				in := good(V1Beta2, V1Beta1)
				set(in.Infrastructure.Unstructured, "status.ready=false")
				return in
			},
			want: "InfrastructureReady=False/NotReady by XCluster c1",
		},
		"InfraV1Beta2": {
			reason: "An infrastructure object of contract v1beta2 reports in status.initialization.provisioned that it is ready.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Infrastructure.Unstructured, "status.initialization.provisioned=false")
				return in
			},
			want: "InfrastructureReady=False/NotReady by XCluster c1",
		},
		"InfraOtherContract": {
			reason: "The field of the other contract is not read.", in: func() Input {
				in := good(V1Beta2, V1Beta1)
				in.Infrastructure.Contract = V1Beta2
				return in
			},
			want: "InfrastructureReady=False/NotReady by XCluster c1",
		},
		"InfraNotTakenOverV1Beta1": {
			reason: "A Cluster of v1beta1 reports in status.infrastructureReady that Cluster API saw its infrastructure ready.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				set(in.Cluster.Unstructured, "status.infrastructureReady=false")
				return in
			},
			want: "InfrastructureReady=False/Provisioning by Cluster c1: Cluster API has not taken over yet that its infrastructure is ready",
		},
		"InfraNotTakenOverV1Beta2": {
			reason: "A Cluster of v1beta2 reports it in status.initialization.infrastructureProvisioned, and its field of v1beta1 is not read.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "status.initialization.infrastructureProvisioned=false", "status.infrastructureReady=true")
				return in
			},
			want: "InfrastructureReady=False/Provisioning by Cluster c1: Cluster API has not taken over yet that its infrastructure is ready",
		},
		"InfraSaysWhy": {
			reason: "The message is copied from the object that is responsible.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "status.initialization.infrastructureProvisioned=false", "status.initialization.controlPlaneInitialized=false")
				set(in.Infrastructure.Unstructured, "status.initialization.provisioned=false")
				with(in.Infrastructure.Unstructured, "status.conditions", "Ready=False/Creating/no\nquota")
				return in
			},
			want: "InfrastructureReady=False/Provisioning by XCluster c1: no quota", blocker: "Provisioning XCluster c1: no quota",
		},
		"InfraUnwell": {
			reason: "The condition Ready of the infrastructure object is mirrored.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				with(in.Infrastructure.Unstructured, "status.conditions", "Ready=False/Gone/the network is gone")
				return in
			},
			want: "InfrastructureReady=False/NotReady by XCluster c1: the network is gone",
		},
		"InfraDeleted": {
			reason: "An infrastructure object that is deleted without its Cluster is not ready.",
			in:     func() Input { in := good(V1Beta2, V1Beta2); in.Infrastructure.SetDeletionTimestamp(&now); return in },
			want:   "InfrastructureReady=False/NotReady by XCluster c1: it is being deleted",
		},
		"InfraNotReferenced": {
			reason: "A Cluster without infrastructure is ready once Cluster API reports it provisioned.",
			in:     func() Input { in := good(V1Beta2, V1Beta2); in.Infrastructure = NotReferenced(); return in },
			want:   "InfrastructureReady=True/Provisioned by Cluster c1",
		},
		"InfraNotReferencedYet": {
			reason: "A Cluster without infrastructure is not ready before Cluster API reports it provisioned.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.Infrastructure = NotReferenced()
				set(in.Cluster.Unstructured, "status.initialization.infrastructureProvisioned=false")
				return in
			},
			want: "InfrastructureReady=False/NotReferenced: the Cluster names none",
		},
		"InfraUnknown": {
			reason: "The blocker names the cause before its effects.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.Infrastructure, in.ControlPlane = Lacks(Subject{Kind: "XCluster", Name: "c1"}, ReasonContractUnknown), NotReferenced()
				set(in.Cluster.Unstructured, "status.initialization=none")
				return in
			},
			want: "InfrastructureReady=Unknown/ContractUnknown by XCluster c1: the definition of its kind names no contract of Cluster API that " +
				"is known here",
			blocker: "ContractUnknown XCluster c1: the definition of its kind names no contract of Cluster API that is known here",
		},
		"InitializedV1Beta1": {
			reason: "A Cluster of v1beta1 reports in its condition ControlPlaneInitialized that the control plane is initialized.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				set(in.Cluster.Unstructured, "status.conditions=none")
				return in
			},
			want: "ControlPlaneInitialized=False/NotInitialized by XControlPlane c1", blocker: "NotInitialized XControlPlane c1",
		},
		"InitializedV1Beta2": {
			reason: "A Cluster of v1beta2 reports it in status.initialization.controlPlaneInitialized, whatever its conditions say.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "status.initialization.controlPlaneInitialized=false")
				with(in.Cluster.Unstructured, "status.conditions", "ControlPlaneInitialized=True/Other/another version of the Cluster says it so")
				with(in.ControlPlane.Unstructured, "status.conditions", "Available=False/Starting/etcd starts")
				return in
			},
			want: "ControlPlaneInitialized=False/NotInitialized by XControlPlane c1: etcd starts", blocker: "NotInitialized XControlPlane c1: etcd starts",
		},
		"InitializedTakenBack": {
			reason: "A control plane that was initialized once stays initialized while the Cluster has the same UID.", in: func() Input {
				in := good(V1Beta2, V1Beta1)
				set(in.Cluster.Unstructured, "status.initialization.controlPlaneInitialized=false")
				in.Initialized = Initialized{UID: "uid-1", At: noon()}
				return in
			},
			want: "ControlPlaneInitialized=True/Initialized by Cluster c1: it was, and its provider no longer says so",
		},
		"InitializedOfAnother": {
			reason: "A Cluster of the same name with another UID has to be initialized itself.", in: func() Input {
				in := good(V1Beta2, V1Beta1)
				set(in.Cluster.Unstructured, "status.initialization.controlPlaneInitialized=false")
				in.Initialized = Initialized{UID: "uid-0", At: noon()}
				return in
			},
			want: "ControlPlaneInitialized=False/NotInitialized by XControlPlane c1", blocker: "NotInitialized XControlPlane c1",
		},
		"PlaneReadyV1Beta1": {
			reason: "A control plane object of contract v1beta1 reports in status.ready that it is ready.", in: func() Input {
				in := good(V1Beta2, V1Beta1)
				set(in.ControlPlane.Unstructured, "status.ready=false")
				with(in.ControlPlane.Unstructured, "status.conditions", "Ready=False/Creating/nodes leave")
				return in
			},
			want: "ControlPlaneReady=False/NotReady by XControlPlane c1: nodes leave",
		},
		"PlaneAvailableV1Beta2": {
			reason: "A control plane object of contract v1beta2 reports in its condition Available that it is ready.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				with(in.ControlPlane.Unstructured, "status.conditions", "Available=False/Lost/quorum is lost")
				return in
			},
			want: "ControlPlaneReady=False/NotReady by XControlPlane c1: quorum is lost",
		},
		"PlaneSaysNothingV1Beta2": {
			reason: "Without the condition Available, a control plane of v1beta2 is ready once it is initialized.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.ControlPlane.Unstructured, "status.initialization.controlPlaneInitialized=false", "status.ready=true")
				return in
			},
			want: "ControlPlaneReady=False/NotReady by XControlPlane c1",
		},
		"PlaneDeleted": {
			reason: "A control plane object that is deleted without its Cluster is not ready.",
			in:     func() Input { in := good(V1Beta2, V1Beta2); in.ControlPlane.SetDeletionTimestamp(&now); return in },
			want:   "ControlPlaneReady=False/NotReady by XControlPlane c1: it is being deleted",
		},
		"NoPlaneV1Beta2": {
			reason: "Where no control plane object is referenced, the Cluster's own condition counts.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.ControlPlane = NotReferenced()
				with(in.Cluster.Unstructured, "status.conditions", "ControlPlaneAvailable=False/Down/it is down")
				return in
			},
			want: "ControlPlaneReady=False/NotReady by Cluster c1: it is down",
		},
		"NoPlaneV1Beta1": {
			reason: "A Cluster of v1beta1 without a control plane object reports in status.controlPlaneReady.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				in.ControlPlane = NotReferenced()
				set(in.Cluster.Unstructured, "status.controlPlaneReady=false")
				return in
			},
			want: "ControlPlaneReady=False/NotReady by Cluster c1",
		},
		"NoPlaneNewConditionsV1Beta1": {
			reason: "A Cluster of v1beta1 may have the conditions of v1beta2 below status.v1beta2.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				in.ControlPlane = NotReferenced()
				with(in.Cluster.Unstructured, "status.v1beta2.conditions", "ControlPlaneAvailable=False/Down/it is down")
				return in
			},
			want: "ControlPlaneReady=False/NotReady by Cluster c1: it is down",
		},
		"PlaneRollsOut": {
			reason: "A control plane that replaces its machines is rolling out, rather than not ready.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				with(with(in.ControlPlane.Unstructured, "status.conditions", "RollingOut=True/RollingOut/1 of 3"), "status.conditions", "Available=False/NotAvailable/etcd is not well")
				return in
			},
			want: "ControlPlaneReady=False/RollingOut by XControlPlane c1: etcd is not well",
		},
		"NoEndpoint": {
			reason: "Without a host in spec.controlPlaneEndpoint, the endpoint is unknown.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "spec.controlPlaneEndpoint.host=")
				return in
			},
			want:    "EndpointKnown=False/EndpointUnknown by Cluster c1: its control plane endpoint is not set",
			blocker: "EndpointUnknown Cluster c1: its control plane endpoint is not set",
		},
		"NoPort": {
			reason: "A host without a port is not an endpoint.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "spec.controlPlaneEndpoint.port=0")
				return in
			},
			want:    "EndpointKnown=False/EndpointUnknown by Cluster c1: its control plane endpoint is not set",
			blocker: "EndpointUnknown Cluster c1: its control plane endpoint is not set",
		},
		"EndpointIsURL": {
			reason: "The URL that CAPT writes into the field of the host is corrected.", in: func() Input {
				in := capt(V1Beta2)
				set(in.Cluster.Unstructured, "spec.controlPlaneEndpoint.host=https://ABC.eks.amazonaws.com", "spec.controlPlaneEndpoint.port=443")
				return in
			},
			want: "EndpointKnown=True/EndpointCorrected by Cluster c1: the host of its control plane endpoint is a URL",
		},
		"PausedV1Beta1": {
			reason: "spec.paused of a Cluster of v1beta1 is reported and keeps nothing back.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				set(in.Cluster.Unstructured, "spec.paused=true")
				return in
			},
			want: "Paused=True/Paused by Cluster c1",
		},
		"PausedV1Beta2": {
			reason: "spec.paused of a Cluster of v1beta2 is reported and keeps nothing back.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "spec.paused=true")
				return in
			},
			want: "Paused=True/Paused by Cluster c1",
		},
		"PausedByAnnotation": {
			reason: "The annotation pauses a Cluster, whatever its value is.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.Cluster.SetAnnotations(map[string]string{annotationPaused: "false"})
				return in
			},
			want: "Paused=True/Paused by Cluster c1",
		},
		"ObjectPaused": {
			reason: "The annotation of an object of the Cluster pauses it, too.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.ControlPlane.SetAnnotations(map[string]string{annotationPaused: ""})
				return in
			},
			want: "Paused=True/Paused by XControlPlane c1",
		},
		"PausedIgnored": {
			reason: "A pause that CAPT ignores is reported as ignored.",
			in:     func() Input { in := capt(V1Beta2); set(in.Cluster.Unstructured, "spec.paused=true"); return in },
			want:   "Paused=True/PausedIgnoredByProvider by Cluster c1: its provider works on it all the same",
		},
		"DeletingV1Beta2": {
			reason: "The Cluster's condition Deleting names the objects that its deletion waits for.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.Cluster.SetDeletionTimestamp(&now)
				with(in.Cluster.Unstructured, "status.conditions", "Deleting=True/WaitingForWorkersDeletion/* MachineDeployments: a")
				return in
			},
			want:    "Deleting=True/WaitingForWorkersDeletion by Cluster c1: * MachineDeployments: a",
			blocker: "WaitingForWorkersDeletion Cluster c1: * MachineDeployments: a",
		},
		"DeletingV1Beta1": {
			reason: "A Cluster of v1beta1 has its condition Deleting below status.v1beta2.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				in.Cluster.SetDeletionTimestamp(&now)
				with(in.Cluster.Unstructured, "status.v1beta2.conditions", "Deleting=True/WaitingForControlPlaneDeletion/soon")
				return in
			},
			want: "Deleting=True/WaitingForControlPlaneDeletion by Cluster c1: soon", blocker: "WaitingForControlPlaneDeletion Cluster c1: soon",
		},
		"DeletingSilently": {
			reason: "A Cluster that is deleted may have no condition about it.",
			in:     func() Input { in := good(V1Beta1, V1Beta1); in.Cluster.SetDeletionTimestamp(&now); return in },
			want:   "Deleting=True/DeletionRequested by Cluster c1: it is being deleted", blocker: "DeletionRequested Cluster c1: it is being deleted",
		},
		"FailureV1Beta1": {
			reason: "A failure reason on a Cluster that works is shown and does not block.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				set(in.Cluster.Unstructured, "status.failureReason=CreateError", "status.failureMessage=it was slow", "status.phase=Failed")
				return in
			},
			want: "ProviderHealthy=True/FailureReported by Cluster c1: CreateError: it was slow",
		},
		"FailureV1Beta2": {
			reason: "A Cluster of v1beta2 has its failure reason below status.deprecated, and the failure is not final.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				set(in.Cluster.Unstructured, "status.deprecated.v1beta1.failureReason=CreateError", "status.initialization.controlPlaneInitialized=false")
				set(in.ControlPlane.Unstructured, "status.initialization.controlPlaneInitialized=false")
				return in
			},
			want: "ProviderHealthy=False/FailureReported by Cluster c1: CreateError", blocker: "FailureReported Cluster c1: CreateError",
		},
		"PhaseFailed": {
			reason: "The phase Failed is reported as a failure without a failure reason.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				set(in.Cluster.Unstructured, "status.phase=Failed", "status.infrastructureReady=false")
				return in
			},
			want: "ProviderHealthy=False/FailureReported by Cluster c1: its phase is Failed",
		},
		"TerraformFailed": {
			reason: "The Workspace behind a CAPTCluster says in Synced why Terraform failed.", in: func() Input {
				in := capt(V1Beta2)
				set(in.Cluster.Unstructured, "status.initialization.infrastructureProvisioned=false", "status.initialization.controlPlaneInitialized=false")
				set(in.Infrastructure.Unstructured, "status.ready=false")
				in.Behind[1] = Found(with(thing("tf.upbound.io/v1beta1", kindWorkspace, "c1-vpc"), "status.conditions", "Synced=False/ReconcileError/apply failed: no quota"), "")
				return in
			},
			want:    "ProviderHealthy=False/TerraformFailed by Workspace c1-vpc: apply failed: no quota",
			blocker: "TerraformFailed Workspace c1-vpc: apply failed: no quota",
		},
		"TerraformFailsToDelete": {
			reason: "A deletion waits for the Workspace whose Terraform fails to destroy.", in: func() Input {
				in := capt(V1Beta2)
				in.Cluster.SetDeletionTimestamp(&now)
				in.Behind[1] = Found(with(thing("tf.upbound.io/v1beta1", kindWorkspace, "c1-vpc"), "status.conditions", "Synced=False/ReconcileError/destroy failed: in use"), "")
				return in
			},
			want: "Deleting=True/DeletionRequested by Workspace c1-vpc: destroy failed: in use", blocker: "DeletionRequested Workspace c1-vpc: destroy failed: in use",
		},
		"VPCSaysWhy": {
			reason: "A CAPTCluster has the condition VPCReady and no condition Ready.", in: func() Input {
				in := capt(V1Beta1)
				set(in.Infrastructure.Unstructured, "status.ready=false")
				with(in.Infrastructure.Unstructured, "status.conditions", "VPCReady=False/VPCCreating/it is being made")
				return in
			},
			want: "InfrastructureReady=False/NotReady by CAPTCluster c1: it is being made",
		},
		"TooFewWorkers": {
			reason: "Fewer ready workers than minReadyWorkers block deliveries.", in: func() Input {
				in := good(V1Beta2, V1Beta2)
				in.Options.MinReadyWorkers = 2
				set(in.Cluster.Unstructured, "status.workers.desiredReplicas=2", "status.workers.readyReplicas=1")
				return in
			},
			want: "ControlPlaneReady=True/Available by XControlPlane c1", blocker: "TooFewWorkers fewer workers are ready than are asked for",
		},
		"EnoughWorkersV1Beta1": {
			reason: "A Cluster of v1beta1 counts its workers below status.v1beta2.", in: func() Input {
				in := good(V1Beta1, V1Beta1)
				in.Options.MinReadyWorkers = 2
				set(in.Cluster.Unstructured, "status.v1beta2.workers.readyReplicas=2")
				return in
			},
			want: "ControlPlaneReady=True/Available by XControlPlane c1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := Read(tc.in())
			conditionType, _, _ := strings.Cut(tc.want, "=")
			if diff := cmp.Diff(tc.want, conditionLine(r.Condition(conditionType))); diff != "" {
				t.Errorf("\n%s\nRead(): -want, +got:\n%s", tc.reason, diff)
			}
			b := r.Blocker()
			if diff := cmp.Diff(tc.blocker, strings.TrimSpace(b.Reason+" "+b.String())); diff != "" || r.Deliverable() != (tc.blocker == "") {
				t.Errorf("\n%s\nBlocker(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	reasons := map[string]Status{
		ReasonKindMissing: Unknown, ReasonObjectMissing: False, ReasonAccessDenied: Unknown, ReasonUnreachable: Unknown,
		ReasonContractUnknown: Unknown, ReasonVersionUnknown: Unknown,
	}
	previous := Initialized{UID: "uid-1", At: noon()}
	for reason, status := range reasons {
		t.Run(reason, func(t *testing.T) {
			in := good(V1Beta2, V1Beta1)
			in.Cluster, in.Initialized = Lacks(Subject{Kind: "Cluster", Name: "c1"}, reason), previous
			r := Read(in)
			if b := r.Blocker(); b.Reason != reason || b.By.String() != "Cluster c1" || b.Message == "" {
				t.Errorf("blocker without the Cluster: %+v", b)
			}
			if forgotten := r.Initialized != previous; forgotten != (reason == ReasonObjectMissing) {
				t.Errorf("latched initialization: %+v", r.Initialized)
			}
			in = good(V1Beta2, V1Beta1)
			in.Infrastructure, in.ControlPlane = Lacks(Subject{Kind: "X", Name: "i"}, reason), Lacks(Subject{Kind: "X", Name: "p"}, reason)
			r = Read(in)
			if a, b := r.Condition(TypeInfrastructureReady), r.Condition(TypeControlPlaneReady); a.Reason != reason || b.Reason != reason || a.Status != status || b.Status != status {
				t.Errorf("without the providers' objects: %s, %s", conditionLine(a), conditionLine(b))
			}
			if !r.Deliverable() || r.Healthy() {
				t.Error("The status of the Cluster is enough to deliver, and not to be healthy")
			}
			set(in.Cluster.Unstructured, "status.initialization.controlPlaneInitialized=false")
			if b := Read(in).Blocker(); b.Reason != reason {
				t.Errorf("blocker: %+v", b)
			}
		})
	}
}

func TestHostile(t *testing.T) {
	in := capt(V1Beta1)
	for _, o := range append([]Object{in.Cluster, in.Infrastructure, in.ControlPlane}, in.Behind...) {
		o.Object["status"], o.Object["spec"] = []any{"a", int64(1), nil}, "text"
	}
	if r := Read(in); r.Deliverable() || r.Endpoint != (Endpoint{}) || r.FailureDomains != nil {
		t.Errorf("of objects in no form: %+v", r)
	}
}

func TestFailureDomains(t *testing.T) {
	want := []FailureDomain{{Name: "a", ControlPlane: true}, {Name: "b"}}
	in := good(V1Beta2, V1Beta2)
	in.Cluster.Object["status"].(map[string]any)["failureDomains"] = []any{
		map[string]any{"name": "b", "controlPlane": false}, map[string]any{"name": "a", "controlPlane": true}, map[string]any{"controlPlane": true}, "junk",
	}
	if diff := cmp.Diff(want, Read(in).FailureDomains); diff != "" {
		t.Errorf("a list: -want, +got:\n%s", diff)
	}
	in = good(V1Beta1, V1Beta1)
	in.Infrastructure.Object["status"].(map[string]any)["failureDomains"] = map[string]any{
		"a": map[string]any{"controlPlane": true, "attributes": map[string]any{"x": "y"}}, "b": map[string]any{},
	}
	if diff := cmp.Diff(want, Read(in).FailureDomains); diff != "" {
		t.Errorf("a map, of the infrastructure: -want, +got:\n%s", diff)
	}
}

func TestObjects(t *testing.T) {
	in := capt(V1Beta2)
	set(in.ControlPlane.Unstructured, "status.ready=false")
	in.Behind = append(in.Behind, Lacks(Subject{Kind: "WorkspaceTemplateApply", Name: "c1-eks-controlplane-apply"}, ReasonObjectMissing),
		Found(with(thing("tf.upbound.io/v1beta1", kindWorkspace, "c1-eks"), "status.conditions", "Synced=False/ReconcileError/no"), ""))
	got := []string{}
	for _, o := range Read(in).Objects {
		got = append(got, strings.TrimSpace(strings.Join([]string{o.Kind, o.Name, o.UID, map[bool]string{true: "ready"}[o.Ready], o.Reason, o.Message}, " ")))
	}
	want := []string{
		"Cluster c1 uid-1 ready", "CAPTCluster c1 uid-1 ready", "CAPTControlPlane c1 uid-1  NotReady",
		"WorkspaceTemplateApply c1-vpc uid-1 ready", "Workspace c1-vpc uid-1 ready",
		"WorkspaceTemplateApply c1-eks-controlplane-apply   ObjectMissing it does not exist", "Workspace c1-eks uid-1  TerraformFailed no",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects: -want, +got:\n%s", diff)
	}
}
