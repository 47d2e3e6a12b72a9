package leftover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track"
)

// webWithLabels is the Service of web with a label, by which a ServiceMonitor selects it.
var webWithLabels = strings.Replace(webService, "  name: web\n", "  labels: {app: web}\n  name: web\n", 1)

// TestReferences tries references to a workload whose Service has the same name, so that a name alone says nothing.
func TestReferences(t *testing.T) {
	const (
		renamed = "has the name of Deployment shop/web, which has another name in each track"
		front   = "leads to Service shop/web, which has the pods of one track at a time"
		pair    = "selects the pods of Deployment shop/web in both tracks, although each track has a copy of the selector"
	)
	cases := map[string]struct {
		reason                 string
		apiVersion, kind, spec string
		perTrack               bool
		service                string
		want                   []string
	}{
		"VerticalPodAutoscaler": {
			reason:     "A mapping with kind and name is a reference, whichever kind has it.",
			apiVersion: "autoscaling.k8s.io/v1", kind: "VerticalPodAutoscaler", spec: "targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}",
			want: []string{"VerticalPodAutoscaler shop/x: spec.targetRef.name: " + renamed},
		},
		"OtherGroup": {
			reason:     "A reference to another API group names another object.",
			apiVersion: "example.org/v1", kind: "Sizer", spec: "targetRef: {apiVersion: example.org/v1, kind: Deployment, name: web}",
			want: []string{},
		},
		"OtherNamespace": {
			reason:     "A reference to another namespace names another object.",
			apiVersion: "example.org/v1", kind: "Sizer", spec: "targetRef: {kind: Deployment, name: web, namespace: other}",
			want: []string{},
		},
		"OtherName": {
			reason:     "Another name is another object.",
			apiVersion: "example.org/v1", kind: "Sizer", spec: "targetRef: {kind: Deployment, name: web-2}",
			want: []string{},
		},
		"WithoutKind": {
			reason:     "A target of a scale without a kind is a Deployment, as KEDA has it.",
			apiVersion: "example.org/v1", kind: "Sizer", spec: "scaleTargetRef: {name: web}",
			want: []string{"Sizer shop/x: spec.scaleTargetRef.name: " + renamed},
		},
		"WorkloadRef": {
			reason:     "A workload without a kind is a Deployment.",
			apiVersion: "example.org/v1", kind: "Rollout", spec: "workloadRef: {name: web}",
			want: []string{"Rollout shop/x: spec.workloadRef.name: " + renamed},
		},
		"SecretTarget": {
			reason:     "The target of an ExternalSecret is a Secret.",
			apiVersion: "external-secrets.io/v1", kind: "ExternalSecret", spec: "target: {name: web}",
			want: []string{},
		},
		"SecretTargetRef": {
			reason:     "The field of a reference to a Secret may end as the field of an autoscaler does.",
			apiVersion: "keda.sh/v1alpha1", kind: "TriggerAuthentication", spec: "secretTargetRef: [{name: web, key: a, parameter: b}]",
			want: []string{},
		},
		"List": {
			reason:     "A list of references has the kind in each of its elements.",
			apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization", spec: "healthChecks: [{apiVersion: apps/v1, kind: Deployment, name: web}]",
			want: []string{"Kustomization shop/x: spec.healthChecks[0].name: " + renamed},
		},
		"ResourceSelectors": {
			reason:     "A field of selectors may hold kinds and names.",
			apiVersion: "policy.karmada.io/v1alpha1", kind: "PropagationPolicy", spec: "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]",
			want: []string{"PropagationPolicy shop/x: spec.resourceSelectors[0].name: " + renamed},
		},
		"Lists": {
			reason:     "Kinds and names may be lists beside each other.",
			apiVersion: "kyverno.io/v1", kind: "Policy", spec: "rules: [{match: {resources: {kinds: [apps/v1/Deployment], names: [web]}}}]",
			want: []string{"Policy shop/x: spec.rules[0].match.resources.names[0]: " + renamed},
		},
		"Role": {
			reason:     "A Role has the plural of the kind.",
			apiVersion: "rbac.example.org/v1", kind: "Grant", spec: "rules: [{apiGroups: [apps], resources: [deployments/scale], resourceNames: [web]}]",
			want: []string{"Grant shop/x: spec.rules[0].resourceNames[0]: " + renamed},
		},
		"EveryGroup": {
			reason:     "A Role may be for every API group.",
			apiVersion: "rbac.example.org/v1", kind: "Grant", spec: "rules: [{apiGroups: ['*'], resources: [deployments], resourceNames: [web]}]",
			want: []string{"Grant shop/x: spec.rules[0].resourceNames[0]: " + renamed},
		},
		"EveryResource": {
			reason:     "A Role may be for every kind.",
			apiVersion: "rbac.example.org/v1", kind: "Grant", spec: "rules: [{apiGroups: [apps], resources: ['*'], resourceNames: [web]}]",
			want: []string{"Grant shop/x: spec.rules[0].resourceNames[0]: " + renamed},
		},
		"EverySubresource": {
			reason:     "A Role may be for the subresource of every kind.",
			apiVersion: "rbac.example.org/v1", kind: "Grant", spec: "rules: [{apiGroups: [apps], resources: ['*/scale'], resourceNames: [web]}]",
			want: []string{"Grant shop/x: spec.rules[0].resourceNames[0]: " + renamed},
		},
		"EveryKindOfVersion": {
			reason:     "A policy may be for every kind of a version, and its group is not read.",
			apiVersion: "kyverno.io/v1", kind: "Policy", spec: "rules: [{match: {resources: {kinds: [apps/v1/*], names: [web]}}}]",
			want: []string{
				"Policy shop/x: spec.rules[0].match.resources.names[0]: " + renamed,
				"Policy shop/x: spec.rules[0].match.resources.names[0]: " + front,
			},
		},
		"KindOfEveryVersion": {
			reason:     "A policy for a kind in every version is not for other kinds.",
			apiVersion: "kyverno.io/v1", kind: "Policy", spec: "rules: [{match: {resources: {kinds: [apps/*/StatefulSet], names: [web]}}}]",
			want: []string{},
		},
		"EveryVersion": {
			reason:     "A policy may be for every version of every API group.",
			apiVersion: "example.org/v1", kind: "Sizer", spec: "targetRef: {apiVersion: '*', kind: Deployment, name: web}",
			want: []string{"Sizer shop/x: spec.targetRef.name: " + renamed},
		},
		"EveryOther": {
			reason:     "A Role for every kind of another API group names another object.",
			apiVersion: "rbac.example.org/v1", kind: "Grant", spec: "rules: [{apiGroups: [example.org], resources: ['*'], resourceNames: [web]}]",
			want: []string{},
		},
		"KindInField": {
			reason:     "The name of a field may say the kind.",
			apiVersion: "example.org/v1", kind: "Pauser", spec: "targetDeployment: web",
			want: []string{"Pauser shop/x: spec.targetDeployment: " + renamed},
		},
		"KindInFieldOfName": {
			reason:     "The name of a field may say the kind and that it has a name.",
			apiVersion: "example.org/v1", kind: "Pauser", spec: "deploymentNames: [web]",
			want: []string{"Pauser shop/x: spec.deploymentNames[0]: " + renamed},
		},
		"KindInFieldOfMapping": {
			reason:     "The field of a mapping may say the kind.",
			apiVersion: "example.org/v1", kind: "Pauser", spec: "deploymentRef: {name: web}",
			want: []string{"Pauser shop/x: spec.deploymentRef.name: " + renamed},
		},
		"Argument": {
			reason:     "A text may have the kind before the name.",
			apiVersion: "batch/v1", kind: "Job", spec: "template: {spec: {containers: [{args: [kubectl, scale, deploy/web]}]}}",
			want: []string{"Job shop/x: spec.template.spec.containers[0].args[2]: " + renamed},
		},
		"Namespaced": {
			reason:     "A text may have the namespace between the kind and the name.",
			apiVersion: "example.org/v1", kind: "Note", spec: "text: 'see Deployment shop/web'",
			want: []string{"Note shop/x: spec.text: " + renamed},
		},
		"PathOfObject": {
			reason:     "A text may have the version, the kind, the namespace and the name.",
			apiVersion: "example.org/v1", kind: "Note", spec: "text: apps/v1/Deployment/shop/web",
			want: []string{"Note shop/x: spec.text: " + renamed},
		},
		"OptionOfNamespace": {
			reason:     "The namespace may be an option between the kind and the name.",
			apiVersion: "batch/v1", kind: "Job", spec: "template: {spec: {containers: [{args: [kubectl, restart, deployment, -n, shop, web]}]}}",
			want: []string{"Job shop/x: spec.template.spec.containers[0].args: " + renamed},
		},
		"ForeignNamespace": {
			reason:     "An object of another namespace is another object.",
			apiVersion: "example.org/v1", kind: "Note", spec: "text: 'see Deployment other/web'",
			want: []string{},
		},
		"Arguments": {
			reason:     "The kind and the name may be two arguments.",
			apiVersion: "batch/v1", kind: "Job", spec: "template: {spec: {containers: [{args: [kubectl, restart, deployment, web]}]}}",
			want: []string{"Job shop/x: spec.template.spec.containers[0].args: " + renamed},
		},
		"Query": {
			reason:     "A query selects series of a Deployment by its name.",
			apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule",
			spec: "groups: [{rules: [{expr: 'kube_deployment_status_replicas{deployment=\"web\"} < 1'}]}]",
			want: []string{"PrometheusRule shop/x: spec.groups[0].rules[0].expr: " + renamed},
		},
		"Address": {
			reason:     "A text with the name of the Service is the Service.",
			apiVersion: "example.org/v1", kind: "Probe", spec: "address: http://web/health",
			want: []string{},
		},
		"Label": {
			reason:     "A label with the name refers to nothing.",
			apiVersion: "example.org/v1", kind: "Probe", spec: "selector: {deployment: web}",
			want: []string{},
		},
		"Template": {
			reason:     "An object of each track that names the workload without a kind keeps the name.",
			apiVersion: "example.org/v1", kind: "Rollout", spec: "workloadRef: {name: web}", perTrack: true,
			want: []string{"Rollout shop/x: spec.workloadRef.name: " + renamed},
		},
		"PolicyOfService": {
			reason:     "A policy that attaches to the Service misses its copies, which get the requests.",
			apiVersion: "gateway.networking.k8s.io/v1", kind: "BackendTLSPolicy", spec: "targetRefs: [{group: '', kind: Service, name: web}]",
			want: []string{"BackendTLSPolicy shop/x: spec.targetRefs[0].name: " + front},
		},
		"Ingress": {
			reason:     "An Ingress sends requests past the weights.",
			apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec: "rules: [{http: {paths: [{backend: {service: {name: web, port: {number: 80}}}}]}}]",
			want: []string{"Ingress shop/x: spec.rules[0].http.paths[0].backend.service.name: " + front},
		},
		"TCPRoute": {
			reason:     "A route of another kind has no weights of the tracks.",
			apiVersion: "gateway.networking.k8s.io/v1alpha2", kind: "TCPRoute", spec: "rules: [{backendRefs: [{name: web, port: 80}]}]",
			want: []string{"TCPRoute shop/x: spec.rules[0].backendRefs[0].name: " + front},
		},
		"Webhook": {
			reason:     "Callers in the cluster use the Service.",
			apiVersion: "example.org/v1", kind: "Webhook", spec: "clientConfig: {service: {name: web}}",
			want: []string{},
		},
		"ServiceMonitor": {
			reason:     "A ServiceMonitor selects the Service, whose pods belong to one track.",
			apiVersion: "monitoring.coreos.com/v1", kind: "ServiceMonitor", spec: "selector: {matchLabels: {app: web}}",
			want: []string{"ServiceMonitor shop/x: spec.selector: " + front},
		},
		"VMServiceScrape": {
			reason:     "The kind says that the selector is for Services.",
			apiVersion: "operator.victoriametrics.com/v1beta1", kind: "VMServiceScrape", spec: "selector: {matchExpressions: [{key: app, operator: Exists}]}",
			want: []string{"VMServiceScrape shop/x: spec.selector: " + front},
		},
		"ServiceSelector": {
			reason:     "The field says that the selector is for Services.",
			apiVersion: "example.org/v1", kind: "Exposer", spec: "serviceSelector: app=web",
			want: []string{"Exposer shop/x: spec.serviceSelector: " + front},
		},
		"PodMonitor": {
			reason:     "A selector of pods finds the pods of both tracks.",
			apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor", spec: "selector: {matchLabels: {app: web}}",
			want: []string{},
		},
		"NetworkPolicy": {
			reason:     "A policy for the pods of both tracks is shared.",
			apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", spec: "podSelector: {matchLabels: {app: web}}",
			want: []string{},
		},
		"OwnServiceMonitor": {
			reason:     "The ServiceMonitor of a track selects the copy of the Service.",
			apiVersion: "monitoring.coreos.com/v1", kind: "ServiceMonitor", spec: "selector: {matchLabels: {app: web}}", perTrack: true,
			want: []string{},
		},
		"OwnNetworkPolicy": {
			reason:     "A further selector in a policy of a track may mean both tracks.",
			apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy",
			spec: "podSelector: {matchLabels: {app: web}}\n  ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]", perTrack: true,
			want: []string{},
		},
		"WorkloadSelector": {
			reason:     "Labels in a field of its own do not get the label of the track.",
			apiVersion: "networking.istio.io/v1", kind: "Sidecar", spec: "workloadSelector: {labels: {app: web}}", perTrack: true,
			want: []string{"Sidecar shop/x: spec.workloadSelector.labels: " + pair},
		},
		"SelectorInText": {
			reason:     "A text may be a selector.",
			apiVersion: "example.org/v1", kind: "Counter", spec: "podSelector: app in (web)", perTrack: true,
			want: []string{"Counter shop/x: spec.podSelector: " + pair},
		},
		"EverySelector": {
			reason:     "An empty selector selects the pods of both tracks.",
			apiVersion: "example.org/v1", kind: "Counter", spec: "selector: {}", perTrack: true,
			want: []string{"Counter shop/x: spec.selector: " + pair},
		},
		"Nodes": {
			reason:     "A selector of nodes selects no pods.",
			apiVersion: "example.org/v1", kind: "Counter", spec: "nodeSelector: {app: web}", perTrack: true,
			want: []string{},
		},
		"ScaledObject": {
			reason:     "The settings of a trigger may have a query, which is not the metadata of an object.",
			apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject",
			spec: "scaleTargetRef: {name: web}\n  minReplicaCount: 1\n  triggers: [{type: prometheus, metadata: {query: 'sum(rps{deployment=\"web\"})'}}]",
			want: []string{"ScaledObject shop/x: spec.triggers[0].metadata.query: " + renamed},
		},
		"WorkloadTrigger": {
			reason:     "A trigger that counts pods counts the pods of both tracks.",
			apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject",
			spec: "scaleTargetRef: {name: web}\n  minReplicaCount: 1\n  triggers: [{type: kubernetes-workload, metadata: {podSelector: 'app=web', value: '1'}}]",
			want: []string{"ScaledObject shop/x: spec.triggers[0].metadata.podSelector: " + pair},
		},
		"Autoscaler": {
			reason:     "An autoscaler follows the workload and the copy of the Service that it measures.",
			apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler",
			spec: "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  " +
				"metrics: [{type: Object, object: {describedObject: {apiVersion: v1, kind: Service, name: web}}}]",
			want: []string{},
		},
		"AutoscalerOfOne": {
			reason:     "An autoscaler of a track that measures a Service without copies measures one track.",
			apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler",
			spec: "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  " +
				"metrics: [{type: Object, object: {describedObject: {apiVersion: v1, kind: Service, name: metrics}}}]",
			service: strings.Replace(webService, "  name: web\n", "  name: metrics\n", 1),
			want: []string{
				"HorizontalPodAutoscaler shop/x: spec.metrics[0].object.describedObject.name: leads to Service shop/metrics, which has the pods of one track at a time",
			},
		},
		"Budget": {
			reason:     "A budget follows the pods of its track.",
			apiVersion: "policy/v1", kind: "PodDisruptionBudget", spec: "selector: {matchLabels: {app: web}}",
			want: []string{},
		},
		"BudgetOfAll": {
			reason:     "A budget for all pods has the pods of both tracks.",
			apiVersion: "policy/v1", kind: "PodDisruptionBudget", spec: "selector: {}",
			want: []string{"PodDisruptionBudget shop/x: spec.selector: " + pair},
		},
		"VirtualService": {
			reason:     "A route of Istio names the Service by its DNS name.",
			apiVersion: "networking.istio.io/v1", kind: "VirtualService",
			spec: "hosts: [shop.example.org]\n  http: [{route: [{destination: {host: web.shop.svc.cluster.local}}]}]",
			want: []string{"VirtualService shop/x: spec.http[0].route[0].destination.host: " + front},
		},
		"VirtualServiceElsewhere": {
			reason:     "The DNS name of a Service of another namespace is another Service.",
			apiVersion: "networking.istio.io/v1", kind: "VirtualService",
			spec: "http: [{route: [{destination: {host: web.other.svc}}, {destination: {host: web.shopping}}, {destination: {host: web.example.org}}]}]",
			want: []string{},
		},
		"DestinationRule": {
			reason:     "A rule of Istio for a host misses the copies, which get the requests.",
			apiVersion: "networking.istio.io/v1", kind: "DestinationRule", spec: "host: web",
			want: []string{"DestinationRule shop/x: spec.host: " + front},
		},
		"AuthorizationPolicy": {
			reason:     "A policy of Istio for the pods of both tracks is shared.",
			apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", spec: "selector: {matchLabels: {app: web}}",
			want: []string{},
		},
		"AuthorizationPolicyOfService": {
			reason:     "A policy of Istio may attach to the Service.",
			apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", spec: "targetRefs: [{kind: Service, name: web}]",
			want: []string{"AuthorizationPolicy shop/x: spec.targetRefs[0].name: " + front},
		},
		"IngressRoute": {
			reason:     "A route of Traefik names the Service without its kind.",
			apiVersion: "traefik.io/v1alpha1", kind: "IngressRoute", spec: "routes: [{match: x, services: [{name: web, port: 80}]}]",
			want: []string{"IngressRoute shop/x: spec.routes[0].services[0].name: " + front},
		},
		"HTTPProxy": {
			reason:     "A proxy of Contour has routes to Services.",
			apiVersion: "projectcontour.io/v1", kind: "HTTPProxy", spec: "routes: [{services: [{name: web, port: 80}, {name: other, port: 80}]}]",
			want: []string{"HTTPProxy shop/x: spec.routes[0].services[0].name: " + front},
		},
		"VirtualServer": {
			reason:     "An upstream of NGINX is a Service.",
			apiVersion: "k8s.nginx.org/v1", kind: "VirtualServer", spec: "upstreams: [{name: a, service: web, port: 80}]",
			want: []string{"VirtualServer shop/x: spec.upstreams[0].service: " + front},
		},
		"Mapping": {
			reason:     "A mapping of Emissary has the address of a Service.",
			apiVersion: "getambassador.io/v2", kind: "Mapping", spec: "prefix: /\n  service: http://web.shop:8080/x",
			want: []string{"Mapping shop/x: spec.service: " + front},
		},
		"TargetGroupBinding": {
			reason:     "A target group of AWS has the endpoints of a Service.",
			apiVersion: "elbv2.k8s.aws/v1beta1", kind: "TargetGroupBinding", spec: "serviceRef: {name: web, port: 80}",
			want: []string{"TargetGroupBinding shop/x: spec.serviceRef.name: " + front},
		},
		"TrafficSplit": {
			reason:     "A split of SMI has a root Service, whose requests it divides past the weights.",
			apiVersion: "split.smi-spec.io/v1alpha2", kind: "TrafficSplit", spec: "service: web\n  backends: [{service: other, weight: 1}]",
			want: []string{"TrafficSplit shop/x: spec.service: " + front},
		},
		"TraefikWeighted": {
			reason:     "A weighted service of Traefik divides requests past the weights.",
			apiVersion: "traefik.io/v1alpha1", kind: "TraefikService", spec: "weighted: {services: [{name: web, port: 80, weight: 1}]}",
			want: []string{"TraefikService shop/x: spec.weighted.services[0].name: " + front},
		},
		"TraefikMirror": {
			reason:     "A mirror of Traefik gets copies of requests, and names the Service without its kind.",
			apiVersion: "traefik.io/v1alpha1", kind: "TraefikService", spec: "mirroring: {name: other, port: 80, mirrors: [{name: web, port: 80, percent: 20}]}",
			want: []string{"TraefikService shop/x: spec.mirroring.mirrors[0].name: " + front},
		},
		"TraefikMirrored": {
			reason:     "The Service whose requests Traefik mirrors gets them past the weights.",
			apiVersion: "traefik.io/v1alpha1", kind: "TraefikService", spec: "mirroring: {name: web, port: 80}",
			want: []string{"TraefikService shop/x: spec.mirroring.name: " + front},
		},
		"ServiceSplitter": {
			reason:     "A split of Consul may give requests to the Service past the weights.",
			apiVersion: "consul.hashicorp.com/v1alpha1", kind: "ServiceSplitter", spec: "splits: [{weight: 50, service: web}, {weight: 50, service: other}]",
			want: []string{"ServiceSplitter shop/x: spec.splits[0].service: " + front},
		},
		"Pool": {
			reason:     "A pool of a load balancer has the endpoints of a Service.",
			apiVersion: "cis.f5.com/v1", kind: "VirtualServer", spec: "pools: [{path: /, service: web, servicePort: 80}]",
			want: []string{"VirtualServer shop/x: spec.pools[0].service: " + front},
		},
		"HTTPScaledObject": {
			reason:     "The interceptor of KEDA sends the requests that it counts to the Service.",
			apiVersion: "http.keda.sh/v1alpha1", kind: "HTTPScaledObject",
			spec: "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web, service: web, port: 80}",
			want: []string{"HTTPScaledObject shop/x: spec.scaleTargetRef.name: " + renamed, "HTTPScaledObject shop/x: spec.scaleTargetRef.service: " + front},
		},
		"OpenShiftRoute": {
			reason:     "A Route of OpenShift names the Service and its kind.",
			apiVersion: "route.openshift.io/v1", kind: "Route", spec: "host: shop.example.org\n  to: {kind: Service, name: web}",
			want: []string{"Route shop/x: spec.to.name: " + front},
		},
		"ReferenceGrant": {
			reason:     "A grant lets routes of other namespaces use the Service.",
			apiVersion: "gateway.networking.k8s.io/v1beta1", kind: "ReferenceGrant",
			spec: "from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: other}]\n  to: [{group: '', kind: Service, name: web}]",
			want: []string{"ReferenceGrant shop/x: spec.to[0].name: " + front},
		},
		"OldIngress": {
			reason:     "An Ingress of an earlier version names the Service in one field.",
			apiVersion: "extensions/v1beta1", kind: "Ingress", spec: "backend: {serviceName: web, servicePort: 80}",
			want: []string{"Ingress shop/x: spec.backend.serviceName: " + front},
		},
		"Certificate": {
			reason:     "A certificate of cert-manager has a Secret and DNS names.",
			apiVersion: "cert-manager.io/v1", kind: "Certificate", spec: "secretName: web\n  dnsNames: [web, web.shop.svc]\n  issuerRef: {name: web, kind: Issuer}",
			want: []string{},
		},
		"Component": {
			reason:     "The settings of a component may be a list.",
			apiVersion: "dapr.io/v1alpha1", kind: "Component", spec: "metadata: [{name: a, value: deployment/web}]",
			want: []string{"Component shop/x: spec.metadata[0].value: " + renamed},
		},
		"TemplateLabels": {
			reason:     "The metadata of a template are labels.",
			apiVersion: "batch/v1", kind: "Job", spec: "template: {metadata: {labels: {deployment: web}, annotations: {see: deployment/web}}, spec: {containers: []}}",
			want: []string{},
		},
		"OptionsBetween": {
			reason:     "Options may stand between the kind and the name.",
			apiVersion: "batch/v1", kind: "Job", spec: "template: {spec: {containers: [{args: [kubectl, scale, deployment, --replicas=3, web]}]}}",
			want: []string{"Job shop/x: spec.template.spec.containers[0].args: " + renamed},
		},
		"WorkloadInQuery": {
			reason:     "A series may call the Deployment a workload.",
			apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule",
			spec: "groups: [{rules: [{expr: 'cpu{workload=\"web\",workload_type=\"deployment\"} > 1'}]}]",
			want: []string{"PrometheusRule shop/x: spec.groups[0].rules[0].expr: " + renamed},
		},
		"PodsInQuery": {
			reason:     "A query for pods by the beginning of their name finds the pods of both tracks.",
			apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", spec: "groups: [{rules: [{expr: 'up{pod=~\"web-.*\"} < 1'}]}]",
			want: []string{},
		},
		"Host": {
			reason:     "The host of an Ingress is a name outside of the cluster.",
			apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec: "rules: [{host: web}]",
			want: []string{},
		},
		"NoCopy": {
			reason:     "The ServiceMonitor of a track selects nothing where no route gives the tracks a copy of the Service.",
			apiVersion: "monitoring.coreos.com/v1", kind: "ServiceMonitor", spec: "selector: {matchLabels: {scrape: 'yes'}}", perTrack: true,
			service: strings.Replace(webService, "  name: web\n", "  labels: {scrape: 'yes'}\n  name: metrics\n", 1),
			want:    []string{"ServiceMonitor shop/x: spec.selector: selects nothing, since no track has a copy of Service shop/metrics"},
		},
		"Uncopied": {
			reason:     "A Service that no route names has the pods of one track.",
			apiVersion: "monitoring.coreos.com/v1", kind: "ServiceMonitor", spec: "selector: {matchLabels: {scrape: 'yes'}}",
			service: strings.Replace(webService, "  name: web\n", "  labels: {scrape: 'yes'}\n  name: metrics\n", 1),
			want:    []string{"ServiceMonitor shop/x: spec.selector: leads to Service shop/metrics, which has the pods of one track at a time"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			extra := map[string]string{"x.yaml": manifest(tc.apiVersion, tc.kind, "x", "spec:\n  "+tc.spec+"\n"), "service-web.yaml": webWithLabels}
			if tc.service != "" {
				extra["service-more.yaml"] = tc.service
			}
			var listed []track.Selector
			if tc.perTrack {
				group, _, _ := strings.Cut(tc.apiVersion, "/")
				listed = []track.Selector{{Group: group, Kind: tc.kind}}
			}
			if diff := cmp.Diff(tc.want, leftoversOf(t, extra, listed)); diff != "" {
				t.Errorf("\n%s\nLeftovers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
