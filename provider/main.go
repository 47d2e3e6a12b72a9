// Package main is Intentplane's Crossplane provider. It does the work outside the control plane.
package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	xpgate "github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"go.opentelemetry.io/otel"
	_ "golang.org/x/crypto/x509roots/fallback" // The image holds no certificates; a system that has some trusts its own.
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/controller"
	"github.com/intentplane/intentplane/provider/controller/gate"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery"
	"github.com/intentplane/intentplane/provider/controller/imagebuild"
	"github.com/intentplane/intentplane/provider/controller/imagebuild/webhook"
	"github.com/intentplane/intentplane/provider/controller/managedcluster"
	"github.com/intentplane/intentplane/provider/controller/notification"
	"github.com/intentplane/intentplane/provider/controller/prunerequest"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/controller/sitehealth"
	"github.com/intentplane/intentplane/provider/controller/sitesync"
	"github.com/intentplane/intentplane/provider/controller/transition"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/provider/tracing"
)

// statesInterval is how often the managed resources are counted for Crossplane's metrics.
const statesInterval = time.Minute

// version is set by the linker.
var version = "development"

type cli struct {
	Debug                    bool          `help:"Log each action, not only errors."                                                              short:"d"`
	LeaderElection           bool          `env:"LEADER_ELECTION"                                                                                           help:"Let only one of several replicas work."`
	LeaderLease              time.Duration `default:"60s"                                                                                                   help:"How long the others wait for a leader that died. A busy API server must be able to renew the lease within five sixths of it."`
	Namespace                string        `default:"crossplane-system"                                                                                     env:"POD_NAMESPACE"                                   help:"Namespace of the leases of the leader and of names of clusters."`
	PollInterval             time.Duration `default:"10m"                                                                                                   help:"How often to look at a repository when nothing else gives a reason to. The interval of a configuration holds if it is shorter."`
	MaxReconcileRate         int           `default:"100"                                                                                                   help:"How many managed resources are looked at per second, and how many at once."`
	HealthProbeBindAddress   string        `default:":8081"                                                                                                 help:"Address of the health probes."`
	MetricsBindAddress       string        `default:":8080"                                                                                                 help:"Address of the metrics, or 0 for none."`
	MaxClusterObject         int64         `default:"1"                                                                                                     help:"How many MiB the API server of a Site may send about one object, and for one event of a watch."`
	MaxClusterList           int64         `default:"64"                                                                                                    help:"How many MiB the API server of a Site may send for one list. A page of a list has an eighth of that."`
	MaxClusterMemory         int64         `default:"32"                                                                                                    help:"How many MiB of memory the objects of a Site's cluster take, or of all clusters of a tenant, with the lists that are being read."`
	AllowInsecureKubeconfigs bool          `help:"Let kubeconfigs of Sites skip the verification of certificates."`
	AllowLoopbackClusters    bool          `help:"Let kubeconfigs in namespaces of tenants lead to the provider's own machine. For tests."`
	AllowLoopbackChecks      bool          `help:"Let checks of Gates ask servers on the provider's own machine, and notifications be posted to them. For tests."`
	AllowLoopbackGit         bool          `help:"Let ProviderConfigs and sources of namespaces lead to the provider's own machine. For tests."`

	RefusedGitNetworks []netip.Prefix `help:"Networks that ProviderConfigs of namespaces may not lead to, such as the networks of the cluster's Services and pods: 10.96.0.0/12." placeholder:"CIDR,..."`
	GitNetworks        []netip.Prefix `help:"Private networks with Git servers, in which errors of ProviderConfigs name their cause, such as 10.20.0.0/16. At other private addresses they name none, so that they do not show which ports are open." placeholder:"CIDR,..."`

	HonourMandates bool `default:"true" help:"Take the steps of revisions, verify them, reject them and roll them back by the mandates of GitDeliveries, without the function. With --honour-mandates=false, only events from the function are recorded."`

	NotificationHosts []string `help:"Hosts to which notifications of ProviderConfigs may be posted: names, or *. and a domain for all names below it, each with a port where that is not 443. Without it none are. A ClusterProviderConfig names its own." placeholder:"HOST,..."`

	SourceWebhookAddress string `help:"Address at which webhooks of Git servers are received, such as :8082: POST /hooks/<namespace>/<application>. Without it none are." placeholder:"ADDRESS"`

	OTLPEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"Collector to which a trace of each revision is exported over OTLP and HTTP, such as http://collector:4318. Without it none are." name:"otlp-endpoint" placeholder:"URL"`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	c := &cli{}
	k := kong.Parse(c, kong.Name("provider"), kong.Description("Intentplane's Crossplane provider."), kong.Vars{"version": version})
	k.FatalIfErrorf(c.runProvider(ctrl.SetupSignalHandler()))
}

// Validate returns an error if the value of a flag is not valid.
func (c *cli) Validate() error {
	if min(c.MaxClusterObject, c.MaxClusterList, c.MaxClusterMemory) < 1 {
		return errors.New("--max-cluster-object, --max-cluster-list and --max-cluster-memory must be at least 1")
	}
	if c.LeaderLease < minLease {
		return errors.Errorf("--leader-lease must be at least %s", minLease)
	}
	if c.OTLPEndpoint != "" {
		_, err := tracing.CheckEndpoint(c.OTLPEndpoint)
		return errors.Wrap(err, "--otlp-endpoint")
	}
	return nil
}

func (c *cli) runProvider(ctx context.Context) error {
	zl := zap.New(zap.UseDevMode(c.Debug))
	log := logging.NewLogrLogger(zl.WithName("provider-intentplane"))
	ctrl.SetLogger(zl)
	logging.SetFilteredKlogLogger(zl)

	mgr, err := c.newManager()
	if err != nil {
		return err
	}
	o := xpcontroller.Options{
		Logger:                  log,
		GlobalRateLimiter:       setup.NewRate(c.MaxReconcileRate),
		PollInterval:            c.PollInterval,
		MaxConcurrentReconciles: c.MaxReconcileRate,
		Features:                &feature.Flags{},
		Gate:                    new(xpgate.Gate[schema.GroupVersionKind]),
	}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	m, err := telemetry.New(metrics.Registry)
	if err != nil {
		return err
	}
	m.Build(version)
	states := statemetrics.NewMRStateMetrics()
	if err := metrics.Registry.Register(states); err != nil {
		return errors.Wrap(err, "cannot register the metrics of managed resources")
	}
	o.MetricOptions = &xpcontroller.MetricOptions{PollStateMetricInterval: statesInterval, MRStateMetrics: states}
	limits := clusters.Limits{Insecure: c.AllowInsecureKubeconfigs, Loopback: c.AllowLoopbackClusters, Accounts: account.New(c.clusterBounds())}
	prober := clusters.NewProber(limits, time.Now)
	near, tenants := c.newGitAddressGuard(), budget.New()
	settings := controller.Options{
		Metrics:        m,
		Gate:           gate.Options{Limits: limits, Observer: m},
		GitDelivery:    gitdelivery.Options{Metrics: m, Guard: near, Budget: tenants, HonourMandates: c.HonourMandates},
		ImageBuild:     imagebuild.Options{Guard: near, Budget: tenants, Metrics: m},
		SourceWebhook:  webhook.Options{Address: c.SourceWebhookAddress, Count: m.SourceHook},
		Notification:   notification.Options{Hosts: c.NotificationHosts, Namespace: c.Namespace, Counter: m},
		SiteHealth:     sitehealth.Options{Limits: limits},
		SiteSync:       sitesync.Options{Limits: limits, Prober: prober, Guard: near},
		PruneRequest:   prunerequest.Options{Guard: near, Namespace: c.Namespace, Counter: m},
		ManagedCluster: managedcluster.Options{Limits: limits, Prober: prober, Namespace: c.Namespace},
	}
	if settings.Gate.Servers, settings.Notification.Receivers, err = c.newFetchClients(); err != nil {
		return err
	}
	if settings.Tracer, err = c.addTraceExporter(ctx, mgr, log); err != nil {
		return err
	}
	if err := mgr.Add(memory.Limiter{}); err != nil {
		return errors.Wrap(err, "cannot add the limiter of memory")
	}
	if err := controller.SetupGated(mgr, o, settings); err != nil {
		return err
	}
	log.Info("Starting", "version", version)
	return errors.Wrap(mgr.Start(ctx), "cannot run controllers")
}

// newFetchClients returns the clients of servers that measure, and of receivers of notifications.
func (c *cli) newFetchClients() (servers, receivers *fetch.Clients, err error) {
	o := fetch.Options{Loopback: c.AllowLoopbackChecks, UserAgent: "intentplane/" + version}
	if servers, err = fetch.New(o, fetch.NewMeasurementAccount()); err != nil {
		return nil, nil, err
	}
	receivers, err = fetch.New(o, fetch.NewNotificationAccount())
	return servers, receivers, err
}

// addTraceExporter adds the exporter of traces to the manager, or returns nil where none are exported.
func (c *cli) addTraceExporter(ctx context.Context, mgr ctrl.Manager, log logging.Logger) (transition.Tracer, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil //nolint:nilnil // A provider exports no traces by default.
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Info("Cannot export traces", "error", err) }))
	e, err := tracing.New(ctx, c.OTLPEndpoint, version)
	if err != nil {
		return nil, err
	}
	return e, errors.Wrap(mgr.Add(e), "cannot add exporter of traces")
}

// newGitAddressGuard returns the guard that keeps ProviderConfigs of namespaces from near addresses. Tests that may reach the provider's own machine
// also learn why a server there does not answer.
func (c *cli) newGitAddressGuard() address.Guard {
	g := address.Guard{Loopback: c.AllowLoopbackGit, Networks: c.RefusedGitNetworks, Reported: slices.Clone(c.GitNetworks)}
	if g.Loopback {
		g.Reported = append(g.Reported, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	return g
}

// clusterBounds returns the bounds for answers of the API servers of Sites.
func (c *cli) clusterBounds() account.Bounds {
	const mebibyte = 1 << 20
	return account.Bounds{Object: c.MaxClusterObject * mebibyte, List: c.MaxClusterList * mebibyte, Store: c.MaxClusterMemory * mebibyte}
}

func (c *cli) newManager() (ctrl.Manager, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, errors.Wrap(err, "cannot find API server")
	}
	cfg = ratelimiter.LimitRESTConfig(cfg, c.MaxReconcileRate)
	cfg.Wrap(listing.BoundResponses)
	cfg.UserAgent = fmt.Sprintf("%s/%s", filepath.Base(os.Args[0]), version)

	mgr, err := ctrl.NewManager(cfg, c.managerOptions())
	if err != nil {
		return nil, errors.Wrap(err, "cannot make controller manager")
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, errors.Wrap(err, "cannot add health probe")
	}
	return mgr, errors.Wrap(mgr.AddReadyzCheck("ping", healthz.Ping), "cannot add readiness probe")
}
