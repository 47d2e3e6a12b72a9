package kubelet

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/track"
)

// portOffset is the difference between the port at which a pod answers and the port that its container names: Crossplane's RBAC manager,
// which may run on this machine too, takes port 8080 of each address.
const portOffset = 20_000

// A server answers for a pod, at each port of its containers.
type server struct {
	address netip.Addr
	ports   []int32
	began   time.Time
	http    *http.Server

	mu        sync.Mutex
	listening bool
	ending    time.Time
}

func (k *Kubelet) newPodServer(p *corev1.Pod, address netip.Addr) *server {
	s := &server{address: address, began: time.Now(), http: &http.Server{Handler: k.answerProbes(p.DeepCopy()), ReadHeaderTimeout: time.Minute}}
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			s.ports = append(s.ports, portOffset+port.ContainerPort)
		}
	}
	return s
}

// answerProbes names the pod and its track in each answer.
func (k *Kubelet) answerProbes(p *corev1.Pod) http.Handler {
	var rest http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	if k.o.Handler != nil {
		rest = k.o.Handler(p)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(HeaderPod, p.GetName())
		w.Header().Set(HeaderTrack, p.GetLabels()[track.LabelTrack])
		rest.ServeHTTP(w, r)
	})
}

// listenOnPorts at all ports, once. It returns an error if one is taken.
func (s *server) listenOnPorts() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listening {
		return nil
	}
	for _, port := range s.ports {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(s.address.String(), strconv.Itoa(int(port))))
		if err != nil {
			return errors.Wrap(err, "cannot listen as a pod")
		}
		go func() { _ = s.http.Serve(l) }() // It ends with close.
	}
	s.listening = true
	return nil
}

// timeUntilEnd returns how long the server of a pod goes on that was deleted when this was first called.
func (s *server) timeUntilEnd(grace time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending.IsZero() {
		s.ending = time.Now().Add(grace)
	}
	return time.Until(s.ending)
}

// closeListeners refuses connections from now on, and cuts open ones.
func (s *server) closeListeners() { _ = s.http.Close() }

// CheckNetwork returns an error if this machine does not have the addresses of a network.
func CheckNetwork(ctx context.Context, n netip.Prefix) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(n.Addr().Next().String(), "0"))
	if err != nil {
		return errors.Wrap(err, "cannot give addresses to pods: run by test/e2e/own-network.sh on Linux with iproute2, as root or where users may make user namespaces")
	}
	return errors.Wrap(l.Close(), "cannot free an address")
}
