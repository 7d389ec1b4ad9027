//! Known faults: why, what to do about it, when that may be done, and what proves it.

use health::Cause;

/// The words of one entry of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cure {
    /// One sentence.
    pub cause: &'static str,
    pub remedy: &'static str,
    /// What must hold before; empty where nothing must.
    pub guard: &'static str,
    /// What holds after it.
    pub proof: &'static str,
}

const fn words(cause: &'static str, remedy: &'static str, guard: &'static str, proof: &'static str) -> Cure {
    Cure { cause, remedy, guard, proof }
}

pub fn cure(cause: Cause) -> Cure {
    match cause {
        Cause::Pve01 => words(
            "The Proxmox cluster has no quorum, so guests do not start.",
            "Start or reconnect the missing Proxmox hosts; start control planes first once the cluster is quorate.",
            "",
            "the Proxmox cluster is quorate and the machines answer",
        ),
        Cause::Pve02 => words(
            "A host did not start when power returned.",
            "Start the host by Wake-on-LAN or IPMI.",
            "",
            "the host answers",
        ),
        Cause::Tal01 => words(
            "The clock of the machine is not synchronised.",
            "Make its time server reachable, or configure one in your network.",
            "",
            "TimeStatus is synced on every machine",
        ),
        Cause::Tal02 => words(
            "The kubelet waits without end for its volumes.",
            "Restart the service kubelet once and wait two minutes; then reboot the machine.",
            "the machine is a worker, or etcd keeps its quorum without it; one machine at a time",
            "the kubelet is healthy and the Node is ready with a new boot id",
        ),
        Cause::Tal03 => words(
            "A restart of the kubelet unmounted user volumes that are in use.",
            "Restart the service kubelet once, then reboot the machine.",
            "the machine is a worker, or etcd keeps its quorum without it",
            "every user volume is ready",
        ),
        Cause::Tal04 => words(
            "A volume of the machine is missing or failed.",
            "Attach the disk again; where a key could not be read at boot, reboot once.",
            "",
            "every VolumeStatus is ready",
        ),
        Cause::Tal05 => words(
            "The machine started in maintenance mode: it has no configuration.",
            "Apply its own stored machine configuration, after you compared its UUID.",
            "",
            "its stage is running",
        ),
        Cause::Tal06 => words(
            "The machine does not finish its shutdown.",
            "Reboot it with mode force, or reset it at the hypervisor.",
            "the machine is a worker, or etcd keeps its quorum without it",
            "a new boot id, and stage running",
        ),
        Cause::Tal07 => words(
            "The serving certificate of a kubelet waits for approval, and nothing approves it.",
            "Approve the request, or install an approver before this layer.",
            "every name and address in the request belongs to that very Node",
            "TLS to port 10250 of the node succeeds",
        ),
        Cause::Tal08 => words(
            "Addresses of the machine overlap with those of pods or Services.",
            "Change one of the address ranges.",
            "",
            "the diagnostic is gone",
        ),
        Cause::Tal09 => words(
            "Your client certificate expired. The cluster itself may be healthy.",
            "Get a new kubeconfig with an admin's credentials.",
            "",
            "`kubectl version` shows the server",
        ),
        Cause::Tal10 => words(
            "The network agent can't reach the API server at KubePrism.",
            "Enable KubePrism in the machine configuration, or point the agent at the API endpoint.",
            "",
            "the agent is ready",
        ),
        Cause::Etcd01 => words(
            "etcd has lost its quorum.",
            "Start the missing control planes and wait: it recovers when a majority is back.",
            "",
            "all members name the same leader",
        ),
        Cause::Etcd02 => words(
            "etcd has reached its quota, and the API server can't write.",
            "Save a snapshot, defragment one member at a time, the leader last, then disarm the alarm.",
            "a snapshot is stored, and less than 80 % of the quota is in use",
            "no alarm is set, and a write succeeds",
        ),
        Cause::Etcd03 => words(
            "etcd was never bootstrapped, or waits to join.",
            "Bootstrap exactly one control plane.",
            "all control planes answered, and all are empty",
            "the member list has one voter, then all",
        ),
        Cause::Etcd04 => words(
            "Members of etcd have other addresses than the control planes.",
            "Set advertisedSubnets for etcd and reserve the addresses.",
            "",
            "every peer address is one of a control plane",
        ),
        Cause::Etcd05 => words(
            "etcd is too slow while everything starts.",
            "Wait until its term is stable for a minute; start less at once.",
            "",
            "the raft term does not change",
        ),
        Cause::Etcd06 => words(
            "Data of an etcd member differ from the others.",
            "Replace the member from a healthy majority. A person does this.",
            "",
            "the alarm is gone",
        ),
        Cause::Cp01 => words(
            "The virtual address of the API is on no machine.",
            "Fix etcd first; use the address of a control plane until then.",
            "",
            "exactly one control plane has the address",
        ),
        Cause::Cp02 => words(
            "A control plane's static pod is not ready.",
            "Read the log of its container, and fix what is below it.",
            "",
            "all static pods are ready on each control plane",
        ),
        Cause::Cp03 => words(
            "An aggregated API does not answer, which breaks discovery for Flux, Helm and deletion.",
            "Fix the workload behind it. Do not delete the APIService while its owner is expected back.",
            "its owner is gone, before you delete it",
            "the APIService is available",
        ),
        Cause::Ns01 => words(
            "A namespace can't be deleted: a controller whose finalizer is left does not run.",
            "Start that controller and wait.",
            "",
            "the namespace is gone",
        ),
        Cause::Node01 => words(
            "Pods of the node have no network yet.",
            "Look at the network agent of that node.",
            "",
            "the Node is ready",
        ),
        Cause::Node02 => words(
            "Pods are left over from a graceful shutdown.",
            "Delete those whose controller has a ready replacement.",
            "",
            "none is left",
        ),
        Cause::Node03 => words(
            "The node was left cordoned.",
            "Uncordon it.",
            "you know who cordoned it, and that work is done",
            "the node is schedulable",
        ),
        Cause::Cni01 => words(
            "The operator of the network agent can't be scheduled because of taints.",
            "Add the tolerations for control planes, not-ready and uninitialized to its values.",
            "",
            "the operator is ready and its CRDs are established",
        ),
        Cause::Cni02 => words(
            "A taint stays because the operator that removes it does not run.",
            "Fix the operator. Do not remove the taint by hand while the agent is not ready.",
            "",
            "the taint is gone",
        ),
        Cause::Cni03 => words(
            "The network agent or pods on the node are from before its boot.",
            "Restart the agent's pod on that node, then pods that it does not manage.",
            "the node is ready",
            "the agent reports the boot id of the node",
        ),
        Cause::Cni04 => words(
            "Multus started before the primary network agent.",
            "Keep the agent from removing other configurations, pin the primary one, then create the pods again.",
            "",
            "every requested network is attached",
        ),
        Cause::Cni05 => words(
            "The init container of Multus can't replace a file that is in use.",
            "Restart its pod on that node once.",
            "only the pod of that node",
            "Multus is ready",
        ),
        Cause::Cni06 => words(
            "An upgrade of the network agent broke the network of the host.",
            "Go back to the previous minor version.",
            "",
            "nodes are ready",
        ),
        Cause::Dns01 => words(
            "CoreDNS forwards queries to itself.",
            "Set real upstream resolvers for the nodes.",
            "",
            "a lookup through the Service succeeds",
        ),
        Cause::Dns02 => words(
            "No endpoint of the cluster's DNS is ready.",
            "Fix what its pods wait for.",
            "",
            "a lookup through the Service succeeds",
        ),
        Cause::Dns03 => words(
            "The resolver that the cluster's DNS forwards to does not answer.",
            "Restore the upstream resolver of the nodes.",
            "",
            "a lookup of an external name succeeds",
        ),
        Cause::Ccm01 => words(
            "The cloud controller has not initialized nodes.",
            "Start the cloud controller with tolerations for not-ready and uninitialized; check its credentials.",
            "",
            "the taint is gone, and every node has a provider id",
        ),
        Cause::Ccm02 => words(
            "The cloud controller looks up a name, and DNS waits for the cloud controller.",
            "Give it an IP address instead of a name, the host network and the node's resolver.",
            "",
            "the taint is gone from every node",
        ),
        Cause::Csi01 => words(
            "The CSI driver does not start without topology labels on the node.",
            "Fix the cloud controller that sets them; the pod then restarts by itself.",
            "the labels exist, and the region is the configured one",
            "the CSINode lists the driver",
        ),
        Cause::Csi02 => words(
            "The CSI driver's DaemonSet is wanted on no node, and so looks healthy.",
            "Correct its node selector, or label the nodes.",
            "",
            "it is wanted on every node that mounts volumes",
        ),
        Cause::Csi03 => words(
            "The CSI driver is not registered with the kubelet although its pod runs.",
            "Delete the driver's pod on that node.",
            "one node at a time, with an unchanged image",
            "the CSINode lists the driver",
        ),
        Cause::Csi04 => words(
            "The provisioner finds no topology of the selected node.",
            "Fix the driver on that node.",
            "",
            "the claim is bound",
        ),
        Cause::Csi05 => words(
            "A volume is still attached to a node that is gone.",
            "Prove that the machine is off; then taint the Node out-of-service.",
            "the hypervisor says that the machine is off",
            "one VolumeAttachment per volume",
        ),
        Cause::Wh01 => words(
            "A webhook that must answer has no server.",
            "Start its server. Where the webhook itself keeps it from starting: save the configuration, set failurePolicy to Ignore, wait, and restore it.",
            "no endpoint of its Service is ready, and the configuration is saved",
            "a dry run of an object that it checks succeeds",
        ),
        Cause::Wh02 => words(
            "The API server does not trust the webhook: its CA is not injected.",
            "Restart the cainjector and wait a minute.",
            "",
            "a dry run of an object that it checks succeeds",
        ),
        Cause::Wh03 => words(
            "A webhook refused a connection, and Flux has not retried yet.",
            "Prove the webhook with a dry run, then let Flux reconcile.",
            "",
            "the Kustomization is ready",
        ),
        Cause::Wh04 => words(
            "Timeouts of dead webhooks add up.",
            "Fix the first one that is dead.",
            "",
            "a dry run of a pod takes less than two seconds",
        ),
        Cause::Sec01 => words(
            "No sealing key of this cluster opens it.",
            "Restore all sealing keys from their backup and restart the controller.",
            "the backup has the key that it was sealed for",
            "the SealedSecret is synced",
        ),
        Cause::Sec02 => words(
            "The key that decrypts SOPS files does not exist in the cluster.",
            "Create the Secret from your key store, in the namespace of the Kustomization, with a key that ends in .agekey.",
            "",
            "the Kustomization is ready",
        ),
        Cause::Sec03 => words(
            "A file is encrypted with SOPS, and the Kustomization has no decryption.",
            "Set spec.decryption in Git.",
            "",
            "the Kustomization is ready",
        ),
        Cause::Sec04 => words(
            "Vault is sealed.",
            "Unseal it with your keys, or repair what unseals it by itself.",
            "",
            "its health answers 200 or 429",
        ),
        Cause::Sec05 => words(
            "A secret store is not ready.",
            "Fix its provider or its credentials, then let the ExternalSecrets sync.",
            "the provider answers",
            "the store is ready and valid",
        ),
        Cause::Sec06 => words(
            "A Secret is needed to start what makes that Secret.",
            "Apply it once as a plain Secret, decrypted by you.",
            "",
            "the operator is ready",
        ),
        Cause::Flux01 => words(
            "Flux can't fetch a source.",
            "Fix DNS, the way to the server or the credentials, then let Flux reconcile it.",
            "",
            "its artifact has the revision of the remote",
        ),
        Cause::Flux02 => words(
            "The server of a source runs in this cluster and waits for what Flux applies.",
            "Apply the least that it needs from a local copy, in order, then hand back to Flux.",
            "the copy is the commit that Flux applied last",
            "the source is ready at the same revision",
        ),
        Cause::Flux03 => words(
            "A dependency does not exist.",
            "Correct the name in dependsOn, or create what it names.",
            "",
            "the chain is ready",
        ),
        Cause::Flux04 => words(
            "Objects of Flux depend on each other in a cycle.",
            "Remove one of the dependencies in Git.",
            "",
            "dependsOn has no cycle",
        ),
        Cause::Flux05 => words(
            "The CRD of an object does not exist.",
            "Reconcile first what installs the CRD; keep both in different Kustomizations.",
            "",
            "the CRD is established and the object is applied",
        ),
        Cause::Flux06 => words(
            "A field that can't be changed has changed.",
            "Delete the completed Job and let Flux reconcile, or set force for that object.",
            "the Job is not active and may run twice",
            "the Kustomization is ready",
        ),
        Cause::Flux07 => words(
            "A Helm release is locked in a pending state.",
            "Let Flux reconcile it: helm-controller 0.37 and later unlock it.",
            "no Helm process works on it",
            "the release is deployed",
        ),
        Cause::Flux08 => words(
            "The HelmRelease used up its retries and does not try again by itself.",
            "Once what is below is healthy, reconcile it and reset its failures.",
            "",
            "the HelmRelease is ready",
        ),
        Cause::Flux09 => words(
            "The HelmRelease has no release to roll back to.",
            "Fix the cause, then force a reconciliation.",
            "",
            "the HelmRelease is ready",
        ),
        Cause::Flux10 => words(
            "The object was left suspended, and Flux does not reconcile it.",
            "Resume it.",
            "you know who suspended it, and that work is done",
            "it was reconciled since",
        ),
        Cause::Flux11 => words(
            "A health check waits for an object that is not healthy.",
            "Look at the object that it names.",
            "",
            "the Kustomization is healthy",
        ),
        Cause::Cert01 => words(
            "The issuer can't issue certificates.",
            "Fix its egress, its credentials or its account; cert-manager retries.",
            "",
            "the issuer is ready",
        ),
        Cause::Lb01 => words(
            "No address was assigned to a LoadBalancer.",
            "Apply or extend the pool of addresses.",
            "",
            "the Service has an address and answers",
        ),
        Cause::Gw01 => words(
            "The GatewayClass was not accepted: its controller did not find all CRDs when it started.",
            "Install the CRDs, then restart the controller's leader.",
            "all CRDs that it needs are established",
            "the GatewayClass is accepted",
        ),
        Cause::Gw02 => words(
            "The Gateway or its route is not programmed.",
            "Fix the address, certificate or backend that its condition names.",
            "",
            "a request through its address succeeds",
        ),
        Cause::Img01 => words(
            "The registry limits pulls.",
            "Wait, pull through a mirror or with credentials, and start less at once.",
            "",
            "the image is on the node",
        ),
        Cause::Img02 => words(
            "The registry mirror in the cluster does not answer, and pulls hang.",
            "Restart the mirror's pod on that node.",
            "the upstream registry is reachable",
            "a pull succeeds",
        ),
        Cause::Img03 => words(
            "A registry in the cluster serves its own images.",
            "Put its images on the node from a bundle.",
            "",
            "the registry is ready",
        ),
        Cause::Ceph01 => words(
            "The monitors of Ceph have no quorum.",
            "Wait for the nodes; keep the operator from replacing monitors until a majority is back.",
            "the operator is scaled back afterwards",
            "the monitors have a quorum and all placement groups are active",
        ),
        Cause::Ceph02 => words(
            "OSDs of Ceph are down.",
            "Fix their disk, node or network. Never purge an OSD for it.",
            "",
            "all OSDs are up",
        ),
        Cause::Ceph03 => words(
            "A warning of Ceph that passes while it recovers.",
            "Wait for placement groups, not for HEALTH_OK.",
            "",
            "no placement group is inactive",
        ),
        Cause::K8s01 => words(
            "Static pods do not start after an unclean shutdown: a fault of kubelet 1.27.0 and 1.27.1.",
            "Update to a patch release.",
            "",
            "the static pods are ready",
        ),
    }
}
