package v1alpha1

// SecretReference names a Secret.
type SecretReference struct {
	// Namespace of the Secret. Required in a ClusterProviderConfig; a ProviderConfig reads Secrets of its own namespace only,
	// and must not set it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SecretKeyReference names one key of a Secret.
type SecretKeyReference struct {
	SecretReference `json:",inline"`

	// Key in the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// CredentialsType is a method of authentication at a Git server.
type CredentialsType string

// Types of credentials, with the keys that their Secret holds.
const (
	// CredentialsNone uses no credentials.
	CredentialsNone CredentialsType = "None"

	// CredentialsBasic uses the keys username and password.
	CredentialsBasic CredentialsType = "Basic"

	// CredentialsBearer uses the key token.
	CredentialsBearer CredentialsType = "Bearer"

	// CredentialsSSH uses the key ssh-privatekey or identity, and password if that has a passphrase.
	CredentialsSSH CredentialsType = "SSH"

	// CredentialsGitHubApp uses the keys githubAppID, githubAppInstallationID, githubAppPrivateKey and githubAppBaseURL.
	CredentialsGitHubApp CredentialsType = "GitHubApp"
)

// Credentials for a Git server.
//
// +kubebuilder:validation:XValidation:rule="(!has(self.type) || self.type == 'None') == !has(self.secretRef)",message="secretRef is required unless type is None, and must be absent with None"
type Credentials struct {
	// Type of the credentials. None; Basic (keys username and password); Bearer (key token); SSH (key ssh-privatekey or identity,
	// with its passphrase in password, and known_hosts unless knownHostsSecretRef names them); GitHubApp (keys githubAppID,
	// githubAppInstallationID, githubAppPrivateKey, and githubAppBaseURL for GitHub Enterprise Server).
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Basic;Bearer;SSH;GitHubApp
	Type CredentialsType `json:"type,omitempty"`

	// SecretRef names the Secret with the credentials.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`

	// ClientCertSecretRef names a Secret of type kubernetes.io/tls to show to an https server.
	// +optional
	ClientCertSecretRef *SecretReference `json:"clientCertSecretRef,omitempty"`
}

// Proxy to reach a Git server through.
type Proxy struct {
	// URL of the proxy, without credentials and path.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^@/?#]+/?$')",message="must be an http or https address such as http://proxy.example.org:3128, without credentials"
	URL string `json:"url"`

	// SecretRef names the Secret with the proxy's credentials: keys username and password.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// Author of commits.
type Author struct {
	// Name of the author.
	// +optional
	// +kubebuilder:default=Intentplane
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^<>\\\\x00-\\\\x1f]+$')",message="must not hold angle brackets or control characters"
	Name string `json:"name,omitempty"`

	// Email of the author.
	// +optional
	// +kubebuilder:default="intentplane@localhost"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^<>\\\\x00-\\\\x20]+$')",message="must not hold angle brackets, spaces or control characters"
	Email string `json:"email,omitempty"`
}

// Signing of commits.
type Signing struct {
	// Format of the key.
	// +required
	// +kubebuilder:validation:Enum=SSH;OpenPGP
	Format string `json:"format"`

	// SecretRef names the Secret with the private key: for SSH the key ssh-privatekey or identity, for OpenPGP git.asc. The key
	// passphrase opens it, and trustedKeys holds the public keys of others whose signatures of the state count.
	// +required
	SecretRef SecretReference `json:"secretRef"`
}

// StateForm is the form of the state of a control plane in a repository.
type StateForm string

// Forms of the state.
const (
	// StateProbe tries a custom ref first and then an orphan branch, as long as neither holds a state.
	StateProbe StateForm = "Probe"

	// StateRef is the custom ref refs/intentplane/<control plane>/state.
	StateRef StateForm = "Ref"

	// StateBranch is the orphan branch intentplane-state/<control plane>.
	StateBranch StateForm = "Branch"
)

// DivergencePolicy is the action on a branch that has lost delivered commits.
type DivergencePolicy string

// Policies for a branch whose history was rewritten, or that was deleted.
const (
	// DivergenceStop writes nothing until the branch has the delivered commits again, or the policy changes.
	DivergenceStop DivergencePolicy = "Stop"

	// DivergenceReapply delivers again on top of the new history.
	DivergenceReapply DivergencePolicy = "Reapply"
)

// State configures the storage of the control plane's state in the repository.
type State struct {
	// Form of the state.
	// +optional
	// +kubebuilder:default=Probe
	// +kubebuilder:validation:Enum=Probe;Ref;Branch
	Form StateForm `json:"form,omitempty"`
}

// GitRemote is a repository that is written to.
type GitRemote struct {
	// URL of the repository, without credentials in it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^(https?|ssh)://[^@/?#]+/[^?#]+$') || self.matches('^ssh://[^@:/?#]+@[^@/?#]+/[^?#]+$') || self.matches('^[A-Za-z0-9_][A-Za-z0-9._-]*@([A-Za-z0-9._-]+|[[][0-9A-Fa-f:]+[]]):[^-?#@:][^?#@:]*$')",message="must be an http, https or ssh URL such as https://git.example.org/fleet.git, or git@git.example.org:fleet.git, without credentials, query or fragment"
	URL string `json:"url"`

	// Branch that is written to.
	// +optional
	// +kubebuilder:default=main
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_][A-Za-z0-9._/-]*$') && !self.contains('..') && !self.contains('//') && !self.endsWith('/') && !self.endsWith('.') && !self.endsWith('.lock')",message="must be the name of a branch, such as main"
	Branch string `json:"branch,omitempty"`

	// PathPrefix is the directory below which everything is written. Empty means the repository's root.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$')",message="must be a relative path of letters, digits, '-', '_' and '.', whose parts do not begin with a dot"
	PathPrefix string `json:"pathPrefix,omitempty"`

	// Credentials for the server.
	// +optional
	// +kubebuilder:default={}
	Credentials Credentials `json:"credentials,omitempty"`

	// CABundleSecretRef names the certificates that the server's must descend from, as PEM. Absent means the system's.
	// +optional
	CABundleSecretRef *SecretKeyReference `json:"caBundleSecretRef,omitempty"`

	// KnownHostsSecretRef names the host keys of an SSH server, as OpenSSH writes them. Absent means the key known_hosts in the
	// Secret with the private key.
	// +optional
	KnownHostsSecretRef *SecretKeyReference `json:"knownHostsSecretRef,omitempty"`

	// Proxy for connections to the server. Absent means no proxy: the proxy variables of the environment are ignored.
	// +optional
	Proxy *Proxy `json:"proxy,omitempty"`

	// Author of commits.
	// +optional
	// +kubebuilder:default={}
	Author Author `json:"author,omitempty"`

	// Signing of commits. Absent means that commits are not signed, and that the provider trusts
	// any state that a user with push access to a ref of the repository writes.
	// +optional
	Signing *Signing `json:"signing,omitempty"`

	// State of the control plane in this repository.
	// +optional
	// +kubebuilder:default={}
	State State `json:"state,omitempty"`

	// Interval between observations of the remote without another trigger: the longest time until a change by other commits is detected. An
	// observation is one request, whatever the number of deployments, and fetches only new objects. From 10s to 24h; a longer interval than
	// the provider's --poll-interval is shortened to that. Default: 1m.
	// +optional
	// +kubebuilder:default="1m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')",message="must be a duration from 10s to 24h, such as 1m"
	Interval string `json:"interval,omitempty"`

	// DivergencePolicy is the action on a branch that was deleted, or whose history was rewritten without delivered commits. Stop
	// (default) writes nothing until the branch has them again, or until this is Reapply, which delivers again on top of the new
	// history, or creates the branch again. The provider never forces a push.
	// +optional
	// +kubebuilder:default=Stop
	// +kubebuilder:validation:Enum=Stop;Reapply
	DivergencePolicy DivergencePolicy `json:"divergencePolicy,omitempty"`
}
