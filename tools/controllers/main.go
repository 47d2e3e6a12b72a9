// Command kube-controllers runs the controllers of Kubernetes that demo and tests need: for namespaces, aggregated ClusterRoles, service accounts, garbage,
// Deployments, ReplicaSets and Jobs. It takes the arguments of kube-controller-manager that the harness gives.
//
// The code of the controllers is that of kube-controller-manager, which has 37 more, with the scheduler and parts of the kubelet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// settings are what the arguments say.
type settings struct {
	kubeconfig  string
	controllers []string
	qps         float64
	burst       int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := runCommand(ctx, os.Args[1:])
	stop()
	klog.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube-controllers:", err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) error {
	s, err := parseArguments(args)
	if err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot read kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = float32(s.qps), s.burst
	return runControllers(ctx, cfg, s.controllers)
}

// parseArguments reads the arguments. It returns an error if one is unknown, or names a controller that is not here.
func parseArguments(args []string) (settings, error) {
	s, names := settings{}, ""
	f := flag.NewFlagSet("kube-controllers", flag.ContinueOnError)
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "The kubeconfig that reaches the API server.")
	f.StringVar(&names, "controllers", strings.Join(namesOfControllers(), ","), "The controllers to run, with commas between them.")
	f.Float64Var(&s.qps, "kube-api-qps", 20, "How many requests the controllers send in a second.")
	f.IntVar(&s.burst, "kube-api-burst", 30, "How many requests they send at once.")
	elect := f.Bool("leader-elect", false, "Must be false: there is one such program for each control plane.")
	port := f.Int("secure-port", 0, "Must be 0: the program serves nothing.")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.controllers = strings.Split(names, ",")
	if *elect || *port != 0 || f.NArg() > 0 {
		return s, errors.New("cannot elect a leader, serve a port, or take further arguments")
	}
	for _, name := range s.controllers {
		if !slices.Contains(namesOfControllers(), name) {
			return s, fmt.Errorf("cannot run controller %q: it is not one of %s", name, strings.Join(namesOfControllers(), ", "))
		}
	}
	return s, nil
}

// runControllers runs the controllers until the context ends.
func runControllers(ctx context.Context, cfg *rest.Config, names []string) error {
	c, err := newCluster(ctx, cfg)
	if err != nil {
		return err
	}
	loops := []func(context.Context){}
	for _, name := range names {
		loop, err := controllersByName()[name](ctx, c)
		if err != nil {
			return fmt.Errorf("cannot make controller %q: %w", name, err)
		}
		loops = append(loops, loop)
	}
	c.start(ctx)
	wg := sync.WaitGroup{}
	for _, loop := range loops {
		wg.Go(func() { loop(ctx) })
	}
	wg.Wait()
	return nil
}

// trimFields takes off an object what no controller here reads.
func trimFields(o any) (any, error) {
	if m, ok := o.(metav1.Object); ok {
		m.SetManagedFields(nil)
	}
	return o, nil
}

// resync is how often informers give all objects again.
const resync = 12 * time.Hour
