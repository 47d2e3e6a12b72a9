package gitserver

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// SSHOptions of an SSH server. Absent keys are made.
type SSHOptions struct {
	// HostKey of the server, or its certificate.
	HostKey ssh.Signer
	// Authorized are the keys of its users.
	Authorized []ssh.PublicKey
}

// An SSH serves the repositories of a Server over SSH, through git's own shell. Its methods are safe for concurrent use.
type SSH struct {
	of       *Server
	listener net.Listener
	host     ssh.Signer
	config   *ssh.ServerConfig

	mu       sync.Mutex
	users    []ssh.PublicKey
	silent   bool
	commands []string
	conns    map[net.Conn]struct{}
	done     sync.WaitGroup
}

// SSH starts an SSH server for the repositories on a free loopback port. It returns an error if it cannot listen.
func (s *Server) SSH(ctx context.Context, o SSHOptions) (*SSH, error) {
	if o.HostKey == nil {
		key, _, err := NewSSHKey()
		if err != nil {
			return nil, err
		}
		o.HostKey = key
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Wrap(err, "cannot listen")
	}
	x := &SSH{of: s, listener: l, host: o.HostKey, users: o.Authorized, conns: map[net.Conn]struct{}{}}
	x.config = &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !x.isAuthorizedKey(key) {
			return nil, errors.New("key is not known")
		}
		return &ssh.Permissions{}, nil
	}}
	x.config.AddHostKey(o.HostKey)
	x.done.Go(x.acceptConnections)
	return x, nil
}

// NewSSHKey returns a new key and its private half in PEM.
func NewSSHKey() (ssh.Signer, []byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot make key")
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot encode key")
	}
	signer, err := ssh.NewSignerFromKey(private)
	return signer, pem.EncodeToMemory(block), errors.Wrap(err, "cannot use key")
}

// Close ends the server and every connection to it.
func (x *SSH) Close() {
	_ = x.listener.Close()
	x.closeConnections()
	x.done.Wait()
}

func (x *SSH) closeConnections() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for c := range x.conns {
		_ = c.Close()
	}
}

// Silence lets the server take commands and say nothing.
func (x *SSH) Silence() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silent = true
}

// Authorize these users alone.
func (x *SSH) Authorize(users ...ssh.PublicKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.users = users
}

func (x *SSH) isAuthorizedKey(key ssh.PublicKey) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.users, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), key.Marshal()) })
}

// URL returns the URL of a repository.
func (x *SSH) URL(repo string) string {
	return "ssh://git@" + x.listener.Addr().String() + filepath.ToSlash(x.of.Path(repo))
}

// Address of the server, as known hosts have it.
func (x *SSH) Address() string { return knownhosts.Normalize(x.listener.Addr().String()) }

// KnownHosts returns the known_hosts line by which a client trusts the server.
func (x *SSH) KnownHosts() []byte {
	return KnownHost(x, x.host)
}

// KnownHost returns the known_hosts line by which a client trusts the server with a key, whether it is the server's or not.
func KnownHost(x *SSH, key ssh.Signer) []byte {
	return []byte(knownhosts.Line([]string{x.listener.Addr().String()}, key.PublicKey()) + "\n")
}

// Commands returns the commands of clients.
func (x *SSH) Commands() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.commands)
}

func (x *SSH) acceptConnections() {
	for {
		conn, err := x.listener.Accept()
		if err != nil {
			return
		}
		x.mu.Lock()
		x.conns[conn] = struct{}{}
		x.mu.Unlock()
		x.done.Go(func() { x.serveConnection(conn) })
	}
}

func (x *SSH) serveConnection(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		x.mu.Lock()
		delete(x.conns, conn)
		x.mu.Unlock()
	}()
	_, channels, requests, err := ssh.NewServerConn(conn, x.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		x.done.Go(func() { x.serveSession(channel, requests) })
	}
}

func (x *SSH) serveSession(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for r := range requests {
		if r.Type != "exec" {
			_ = r.Reply(false, nil)
			continue
		}
		payload := struct{ Command string }{}
		if err := ssh.Unmarshal(r.Payload, &payload); err != nil {
			_ = r.Reply(false, nil)
			return
		}
		_ = r.Reply(true, nil)
		x.runShellCommand(channel, payload.Command)
		return
	}
}

// runShellCommand runs the commands that git's shell allows, and nothing else.
func (x *SSH) runShellCommand(channel ssh.Channel, command string) {
	x.mu.Lock()
	x.commands = append(x.commands, command)
	silent := x.silent
	x.mu.Unlock()
	if silent {
		_, _ = io.Copy(io.Discard, channel) // Until the other side has had enough.
		return
	}
	cmd := exec.CommandContext(context.Background(), "git", "shell", "-c", command)
	cmd.Dir = x.of.dir
	cmd.Env = isolatedEnvironment(x.of.dir)
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(in, channel)
		_ = in.Close()
	}()
	status := struct{ Status uint32 }{}
	if err := cmd.Run(); err != nil {
		status.Status = 1
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
}
