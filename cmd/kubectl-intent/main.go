// Command kubectl-intent looks at IntentDeployments, without a cluster. As kubectl-intent on the PATH it is also "kubectl intent".
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// commands are what kubectl-intent can do.
type commands struct {
	Digest digestCommand `cmd:"" help:"Print the digest that status.intentDigest has when the status speaks about this spec."`
	Render renderCommand `cmd:"" help:"Write what an IntentDeployment renders to, for each Site."`
}

// streams that commands read from and write to.
type streams struct {
	in  io.Reader
	out io.Writer
}

func main() {
	c := kong.Parse(&commands{},
		kong.Name("kubectl-intent"),
		kong.Description("Looks at IntentDeployments, without a cluster."),
		kong.UsageOnError())
	c.FatalIfErrorf(c.Run(&streams{in: os.Stdin, out: os.Stdout}))
}
