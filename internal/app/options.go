// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gopkg.in/alecthomas/kingpin.v2"
	"k8s.io/utils/ptr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// namespaceFile contains the namespace of the pod.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

const (
	defaultLeaseDuration = time.Minute

	// unattendedApplyDuration is the duration of the Lease during an apply for an instance without
	// --leader-election.
	unattendedApplyDuration = 5 * time.Minute
)

// Options of one instance. Their zero value is not usable: see ParseOptions.
type Options struct {
	Debug       bool
	LogEncoding string

	SyncInterval            time.Duration
	PollInterval            time.Duration
	PollJitter              time.Duration
	PollStateMetricInterval time.Duration
	Timeout                 time.Duration
	GCInterval              time.Duration
	ShutdownGrace           time.Duration
	MaxReconcileRate        int
	MaxApplies              int

	// LeaderElection says whether to hold a Lease. It is nil if the flag is not set.
	LeaderElection *bool
	LeaseNamespace string
	Lease          lease.Timing
	ShardName      string
	ShardCatchAll  bool

	NoCrossNamespaceRefs bool
	ShardRange           string
	AssignShards         bool
	ShardGracePeriod     time.Duration
	AssignRate           int

	EnableManagementPolicies bool
	EnableChangeLogs         bool
	ChangeLogsSocketPath     string
	EnableSecretCache        bool

	CLI                    string
	MetricsBindAddress     string
	HealthProbeBindAddress string

	// Root of the working directories, from the environment variable XP_TF_DIR.
	Root string

	// Environ is the environment of this process, as KEY=VALUE.
	Environ []string

	// Shard is what this instance serves. HoldsLease says that it holds a Lease: without --leader-election
	// and without a shard, only if it has the right. Both are set by complete.
	Shard      shard.ID
	HoldsLease bool
}

// ParseOptions parses the arguments of the program of the supplied name. Flags take precedence
// over environment variables, and those over defaults. Usage and version are written to out.
func ParseOptions(name string, args []string, out io.Writer) (*Options, error) {
	o := &Options{Environ: os.Environ(), Root: "/tf"}
	if root, ok := os.LookupEnv("XP_TF_DIR"); ok {
		o.Root = root
	}

	a := kingpin.New(filepath.Base(name), "Runs Terraform or OpenTofu for Crossplane.").DefaultEnvars()
	a.UsageWriter(out)
	a.ErrorWriter(out)
	a.Version(Version())
	a.HelpFlag.Short('h')
	o.addFlags(a)

	if _, err := a.Parse(args); err != nil {
		return nil, err
	}

	return o, o.complete()
}

func (o *Options) addFlags(a *kingpin.Application) {
	duration := kind[time.Duration]{parse: time.ParseDuration, allowed: "a duration such as 90s, 10m or 1h30m"}
	positiveDuration := duration.limited(func(d time.Duration) bool { return d > 0 }, "greater than 0")
	nonNegativeDuration := duration.limited(func(d time.Duration) bool { return d >= 0 }, "0 or greater")
	integer := kind[int]{parse: strconv.Atoi, allowed: "an integer"}
	positiveInteger := integer.limited(func(n int) bool { return n >= 1 }, "1 or greater")
	nonNegativeInteger := integer.limited(func(n int) bool { return n >= 0 }, "0 or greater")
	boolean := kind[bool]{parse: strconv.ParseBool, allowed: "true or false", noValue: true}

	addFlag(a, boolean, "debug", "Log debug messages.", &o.Debug).Short('d')
	addFlag(a, oneOf("console", "json"), "log-encoding", "Encoding of the log: console or json.", &o.LogEncoding).Default("console")

	addFlag(a, positiveDuration, "sync", "How often the cache is compared with what the controllers have seen.", &o.SyncInterval).Default("1h").Short('s')
	addFlag(a, positiveDuration, "poll", "How often a Workspace that is up to date is checked for drift.", &o.PollInterval).Default("10m")
	addFlag(a, nonNegativeDuration, "poll-jitter", "By how much polls differ from their interval, in either direction; at most a quarter of the interval.", &o.PollJitter).Default("1m")
	addFlag(a, positiveDuration, "poll-state-metric", "How often the metrics of the state of all Workspaces are updated.", &o.PollStateMetricInterval).Default("5s")
	addFlag(a, positiveDuration, "timeout", "Limit of all that one reconcile of a Workspace does outside of Kubernetes. A deletion has it twice.", &o.Timeout).Default("20m")
	addFlag(a, nonNegativeDuration, "gc-interval", "How often working directories of deleted Workspaces are collected; 0 disables it.", &o.GCInterval).Default("1h")
	addFlag(a, nonNegativeDuration, "shutdown-grace", "How long runs in progress may go on after SIGTERM before they are interrupted.", &o.ShutdownGrace).Default("15s")
	addFlag(a, positiveInteger, "max-reconcile-rate", "How many Workspaces of a kind are created, changed or deleted at a time. There is one more worker for polls, unless --max-applies is lower.", &o.MaxReconcileRate).Default("1")
	addFlag(a, nonNegativeInteger, "max-applies", "How many Workspaces of a kind are created, changed or deleted at a time, if that is less than --max-reconcile-rate; 0 is no further limit.", &o.MaxApplies).Default("0")

	addFlag(a, optional(boolean), "leader-election", "Hold a Lease, so that one of several replicas is active. Default: in a cluster, if that is allowed.", &o.LeaderElection).Short('l').Envar("LEADER_ELECTION")
	a.Flag("lease-namespace", "Namespace of the Lease. Default: the namespace of the pod.").Envar("POD_NAMESPACE").StringVar(&o.LeaseNamespace)
	addFlag(a, duration, "lease-duration", "How long after its last sign of life an instance counts as dead. With the default, an unsharded instance without --leader-election counts as dead after 5m during an apply or destroy.", &o.Lease.Duration).Default(defaultLeaseDuration.String())
	addFlag(a, duration, "lease-renew-deadline", "How long an instance tries to renew its Lease before it interrupts its runs and ends; at most three quarters of --lease-duration.", &o.Lease.RenewDeadline).Default("40s")
	addFlag(a, duration, "lease-retry-period", "How often an instance renews its Lease, or tries to take it. A Workspace that waits for another instance is checked after five to ten of these periods.", &o.Lease.RetryPeriod).Default("2s")
	// This flag is for tests: an unsharded instance uses five minutes.
	addFlag(a, duration, "lease-apply-duration", "Duration of the Lease during an apply or destroy, if that is longer.", &o.Lease.ApplyDuration).Default("0s").Hidden().NoEnvar()
	a.Flag("shard-name", "Serve the Workspaces with the label "+shard.LabelKey+"=NAME only. Turns leader election on.").Envar("SHARD_NAME").StringVar(&o.ShardName)
	addFlag(a, boolean, "shard-catch-all", "Serve the Workspaces without the label "+shard.LabelKey+" only. Turns leader election on.", &o.ShardCatchAll).Envar("SHARD_CATCH_ALL")
	a.Flag("shard-range", "Experimental: serve the range i/N (i from 0 to N-1) of the Workspaces without the label "+shard.LabelKey+". The API server selects them, and needs the feature gate ShardedListAndWatch. Turns leader election on.").Envar("SHARD_RANGE").StringVar(&o.ShardRange)
	addFlag(a, boolean, "assign-shards", "Take part in the election of the instance that gives Workspaces without the label "+shard.LabelKey+" to the shards that run.", &o.AssignShards).Envar("ASSIGN_SHARDS")
	addFlag(a, nonNegativeDuration, "shard-grace-period", "How long a shard that has released its Lease, or let it expire, keeps the Workspaces that were assigned to it.", &o.ShardGracePeriod).Default("1m")
	addFlag(a, positiveInteger, "assign-rate", "How many Workspaces are assigned or moved per second.", &o.AssignRate).Default("50")

	addFlag(a, boolean, "no-cross-namespace-refs", "Refuse namespaced Workspaces that refer to a Flux source in another namespace.", &o.NoCrossNamespaceRefs)
	addFlag(a, boolean, "enable-management-policies", "Honor spec.managementPolicies.", &o.EnableManagementPolicies).Default("true").Envar("ENABLE_MANAGEMENT_POLICIES")
	addFlag(a, boolean, "enable-changelogs", "Send a change log entry for every create, update and delete.", &o.EnableChangeLogs).Envar("ENABLE_CHANGE_LOGS")
	a.Flag("changelogs-socket-path", "Unix socket of the gRPC service that takes change logs.").Default("/var/run/changelogs/changelogs.sock").Envar("CHANGELOGS_SOCKET_PATH").StringVar(&o.ChangeLogsSocketPath)
	addFlag(a, boolean, "enable-secret-cache", "Keep all Secrets of the cluster in memory instead of reading each when it is needed.", &o.EnableSecretCache).Default("true").Envar("ENABLE_SECRET_CACHE")

	a.Flag("cli", "Program to run: terraform, tofu, or the absolute path of one. Default: terraform, else tofu, whichever is found on PATH.").Envar("TERRAFORM_CLI").StringVar(&o.CLI)
	a.Flag("metrics-bind-address", "Address of the metrics endpoint; 0 disables it.").Default(":8080").StringVar(&o.MetricsBindAddress)
	a.Flag("health-probe-bind-address", "Address of the health endpoints; 0 disables them.").Default(":8081").StringVar(&o.HealthProbeBindAddress)
}

// complete completes the options, and validates those that depend on each other. Every error names
// the flag, its value and the allowed values.
func (o *Options) complete() error {
	if o.MaxApplies == 0 || o.MaxApplies > o.MaxReconcileRate {
		o.MaxApplies = o.MaxReconcileRate
	}

	if err := o.completeShard(); err != nil {
		return err
	}

	return o.completeLease()
}

// completeShard sets the shard. An instance is one shard, the catch-all, a range, or unsharded.
func (o *Options) completeShard() (err error) {
	switch {
	case o.ShardName != "" && o.ShardCatchAll:
		return errors.Errorf("--shard-name is %q and --shard-catch-all is set: an instance serves one shard or the Workspaces without one, use one of the two", o.ShardName)
	case o.ShardRange != "" && (o.ShardName != "" || o.ShardCatchAll || o.AssignShards):
		return errors.Errorf("--shard-range is %q: it cannot be used together with --shard-name, --shard-catch-all or --assign-shards", o.ShardRange)
	case o.AssignShards && o.ShardName == "" && !o.ShardCatchAll:
		return errors.New("--assign-shards is set, and neither --shard-name nor --shard-catch-all: an instance without a shard serves every Workspace, and would keep all shards waiting")
	case o.ShardCatchAll:
		o.Shard = shard.CatchAll()
	case o.ShardRange != "":
		o.Shard, err = shard.ParseRange(o.ShardRange)
		err = errors.Wrap(err, "--shard-range")
	default:
		o.Shard, err = shard.Parse(o.ShardName)
		err = errors.Wrap(err, "--shard-name")
	}

	return err
}

// pauses says whether this instance, when it cannot renew its Lease and nothing is in progress,
// waits for the API server instead of ending. A shard must not wait: others consider it dead for
// ever, and take its claims.
func (o *Options) pauses() bool { return !o.Shard.Sharded() && o.Lease.ApplyDuration > 0 }

// electionDeadline is when leader election gives up. The lock must give up earlier.
func (o *Options) electionDeadline() time.Duration {
	if o.pauses() {
		return math.MaxInt32 * time.Second
	}

	return o.Lease.LongestDeadline()
}

func (o *Options) completeLease() error {
	if err := o.Lease.Validate(); err != nil {
		return err
	}

	if o.LeaseNamespace == "" {
		if b, err := os.ReadFile(namespaceFile); err == nil {
			o.LeaseNamespace = strings.TrimSpace(string(b))
		}
	}

	// Without a Lease, other instances could not find out whether a shard is served. An unsharded
	// instance holds a Lease, too, if it can, unless the flag disables it: otherwise two instances
	// would work on the same Workspaces whenever a Deployment is rolled out.
	needed := o.Shard.Sharded() || ptr.Deref(o.LeaderElection, false)
	if needed && o.LeaseNamespace == "" {
		return errors.New("--lease-namespace (POD_NAMESPACE) is not set: outside of a cluster it must name the namespace of the Lease that --leader-election, --shard-name, --shard-catch-all and --shard-range need")
	}

	// Older versions of such an instance never ended an apply when the API server was unavailable
	// for some minutes. Operators who want another instance to take over sooner set the flag.
	if !needed && o.Lease.Duration == defaultLeaseDuration {
		o.Lease.ApplyDuration = max(o.Lease.ApplyDuration, unattendedApplyDuration)
	}

	o.HoldsLease = needed || (ptr.Deref(o.LeaderElection, true) && o.LeaseNamespace != "")

	return nil
}
