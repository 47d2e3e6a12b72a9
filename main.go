// Command function is the composition function of Intentplane: it compiles intents into the managed resources that deliver
// them.
package main

import (
	"time"

	"github.com/alecthomas/kong"
	sdk "github.com/crossplane/function-sdk-go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
)

// version of the build. The linker sets it.
var version = "dev"

// cli has the flags that Crossplane passes to every function, and the flags of this function.
type cli struct {
	Debug               bool             `help:"Emit debug logs." short:"d"`
	Network             string           `default:"tcp" help:"Network on which to listen for gRPC connections."`
	Address             string           `default:":9443" help:"Address at which to listen for gRPC connections."`
	TLSCertsDir         string           `env:"TLS_SERVER_CERTS_DIR" help:"Folder with the server's certificate (tls.crt), its key (tls.key), and the CA of clients (ca.crt)."`
	Insecure            bool             `help:"Serve without TLS. Needed by crossplane render."`
	MetricsAddress      string           `default:":8080" help:"Address at which to serve metrics. Empty serves none."`
	MaxRecvMessageSize  int              `default:"16" help:"Largest request, in MiB."`
	CacheSize           int              `default:"12" help:"Cache size for responses and rendered files, in MiB."`
	TTL                 time.Duration    `default:"10m" help:"How long a response counts when nothing changes."`
	RendererSpread      time.Duration    `default:"24h" help:"How long it takes until all deployments took a new version of the renderer, each in its own time of the day. 0 means at once."`
	ProviderTimeout     time.Duration    `default:"5m" help:"How long the provider may take to observe a change before deployments say ProviderNotResponding. 0 means any time."`
	AllowLoopbackChecks bool             `help:"Take addresses of Prometheus servers on the provider's own machine, which the provider has to allow too. For tests."`
	Version             kong.VersionFlag `help:"Print the version."`
}

// splitCacheBytes divides the memory of the cache into responses and rendered files. Nearly every call was answered before. Files are for calls
// in which something changed that is not rendered, which are soon after the rendering.
func splitCacheBytes(bytes int) (answered, rendered int) {
	return bytes - bytes/3, bytes / 3
}

// Run serves the function until it is stopped.
func (c *cli) Run() error {
	log, err := sdk.NewLogger(c.Debug)
	if err != nil {
		return err
	}
	answered, rendered := splitCacheBytes(c.CacheSize << 20)
	core := deployment.New(render.NewCache(render.NewRenderer(), rendered), deployment.WithRendererSpread(c.RendererSpread), deployment.WithStopwatch(time.Now),
		deployment.WithProviderTimeout(c.ProviderTimeout), deployment.WithLoopbackChecks(c.AllowLoopbackChecks))
	metrics, err := newTelemetry(prometheus.DefaultRegisterer)
	if err != nil {
		return err
	}
	return sdk.Serve(NewFunction(core, log, c.TTL, time.Now).Remember(answered).Measure(metrics),
		sdk.Listen(c.Network, c.Address),
		sdk.MTLSCertificates(c.TLSCertsDir),
		sdk.Insecure(c.Insecure),
		sdk.MaxRecvMessageSize(c.MaxRecvMessageSize<<20),
		sdk.WithMetricsServer(c.MetricsAddress),
	)
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("The composition function of Intentplane."), kong.Vars{"version": version})
	ctx.FatalIfErrorf(ctx.Run())
}
