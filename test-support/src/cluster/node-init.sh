#!/bin/bash
# The first process of a node, inside its namespaces: when it dies, everything of the node dies. `node.ts` starts it.
# NODE_FOLDER, NODE_NAME, NODE_ADDRESS and NODE_GROUP describe the node. Descriptor 3 reports that the namespaces
# exist; a line on the input then says that the network does.
set -eu

mount --make-rprivate /
mount -t proc proc /proc
# Pods receive mounts of volumes from here, as on a machine of their own.
mount --make-rshared /
hostname "$NODE_NAME"
# Programs write to fixed names below these folders.
mount -t tmpfs -o mode=0755 run /run
mkdir -p /run/lock /run/cni
mount -t tmpfs -o mode=0755 lib /var/lib
mount --bind "$NODE_FOLDER/logs" /var/log

# The kubelet insists on these values for the whole machine. It gets files that hold them, so the machine keeps its own.
mkdir /run/sysctl
file=0
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$((file + 1))
  echo "${setting#*=}" > "/run/sysctl/$file"
  mount --bind "/run/sysctl/$file" "/proc/sys/${setting%%=*}"
done
echo 1 > /proc/sys/net/ipv4/ip_forward

echo ready >&3
read -r _
exec 3>&- < /dev/null

# Runs a program again whenever it ends, as a service manager would.
keep_running() {
  local name=$1
  shift
  while :; do
    "$@" >> "$NODE_FOLDER/$name.log" 2>&1 || echo "$name ended with $?" >> "$NODE_FOLDER/$name.log"
    sleep 1
  done
}

keep_running containerd containerd --config "$NODE_FOLDER/containerd.toml" --log-level warn &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
keep_running kube-proxy kube-proxy --config="$NODE_FOLDER/kube-proxy.json" &
keep_running kubelet kubelet --config="$NODE_FOLDER/kubelet.json" --kubeconfig="$NODE_FOLDER/kubelet.kubeconfig" \
  --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESS" --root-dir="$NODE_FOLDER/kubelet" \
  --cert-dir="$NODE_FOLDER/certificates" --kubelet-cgroups="/$NODE_GROUP/kubelet" --container-runtime=remote \
  --container-runtime-endpoint=unix:///run/containerd/containerd.sock &
wait
