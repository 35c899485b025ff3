import type { Usage } from "./usage.ts"

/** Programs that share a usage, under the name of the rule that a decision reports. */
export interface ShippedRule {
  readonly rule: string
  /** The names of the programs, separated by blanks. */
  readonly programs: string
  readonly usage: Usage
}

/** Programs that read, search, or change single files. */
export const fileRules: readonly ShippedRule[] = [
  {
    rule: "read",
    programs:
      "cat head tail wc nl tac rev od hexdump strings file stat md5sum sha1sum sha256sum sha512sum cksum " +
      "b2sum cut paste fold fmt column comm join expand unexpand base64 base32 diff cmp sdiff zcat bzcat xzcat " +
      "readlink realpath du pr tsort zgrep",
    usage: {
      operands: "read",
      valued: "-n -c -d -f -k -t -w -s --bytes --lines --fields --delimiter",
    },
  },
  {
    rule: "read",
    programs: "jq yq",
    usage: { operands: "patternThenRead", asked: "--from-file --rawfile --slurpfile -L -f -i --inplace" },
  },
  { rule: "read", programs: "ls dir vdir tree exa eza lsd df", usage: { operands: "list", writes: "-o" } },
  {
    rule: "read",
    programs:
      "echo printf pwd true false : test [ uname whoami id groups arch nproc uptime free basename dirname seq sleep " +
      "which type whereis tty getconf expr factor numfmt tr yes cal ps pgrep printenv lscpu lsb_release sw_vers clear",
    usage: { operands: "free" },
  },
  {
    rule: "read",
    programs: "date hostname locale tput man info apropos whatis",
    usage: {
      operands: "free",
      asked: "-s --set -C -P --pager -H --html --preprocessor -F --file -b -y --yp",
    },
  },
  {
    rule: "search",
    programs: "grep egrep fgrep",
    usage: {
      operands: "patternThenRead",
      valued: "-e -f -m -A -B -C --regexp --file --max-count --context --include --exclude --exclude-dir",
    },
  },
  {
    rule: "search",
    programs: "rg",
    usage: {
      operands: "patternThenRead",
      valued: "-e -f -g -t -T -m -A -B -C -j -M -r -E --glob --type --regexp --max-count --sort --replace",
      asked: "--pre --pre-glob --hostname-bin --search-zip -z",
      plain: "--pretty",
    },
  },
  {
    rule: "search",
    programs: "ag ack",
    usage: { operands: "patternThenRead", asked: "--pager --ackrc --env --output --search-zip -z" },
  },
  {
    rule: "search",
    programs: "fd fdfind",
    usage: {
      operands: "patternThenRead",
      asked: "-x -X --exec --exec-batch",
      plain: "--exclude --extension",
    },
  },
  {
    rule: "search",
    programs: "sort",
    usage: {
      operands: "read",
      valued: "-k -t -S",
      writes: "-o --output",
      asked: "--compress-program -T --temporary-directory --files0-from",
    },
  },
  { rule: "search", programs: "uniq", usage: { operands: "readThenWrite", valued: "-f -s -w" } },
  {
    rule: "read",
    programs: "ctags cscope cloc tokei scc",
    usage: {
      operands: "list",
      asked: "--options --config --extract-with --diff --git",
      plain: "--git-ignore",
    },
  },
  { rule: "make-directory", programs: "mkdir", usage: { operands: "createDirectory", valued: "-m --mode" } },
  { rule: "files", programs: "touch truncate", usage: { operands: "write", valued: "-d -r -t -s --size" } },
  { rule: "files", programs: "tee sponge", usage: { operands: "write" } },
  {
    rule: "files",
    programs: "cp install",
    usage: { operands: "sourcesThenTarget", valued: "-S -m -o -g", writes: "-t --target-directory" },
  },
  { rule: "files", programs: "mv", usage: { operands: "write", writes: "-t --target-directory" } },
  { rule: "files", programs: "ln", usage: { operands: "write" } },
  { rule: "files", programs: "rm rmdir unlink shred", usage: { operands: "delete", valued: "-n -s" } },
  { rule: "files", programs: "chmod chown chgrp", usage: { operands: "write" } },
  { rule: "files", programs: "dd", usage: { ask: "it copies raw bytes" } },
  { rule: "files", programs: "patch", usage: { ask: "it changes the files a patch names" } },
  {
    rule: "archives",
    programs: "zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd 7z cpio",
    usage: { ask: "it packs or unpacks files" },
  },
]

/** Programs that use the network, and programs that change more than the workspace. */
export const outsideRules: readonly ShippedRule[] = [
  {
    rule: "network",
    programs:
      "curl wget aria2c http https xh httpie ssh scp sftp rsync nc ncat netcat socat telnet ftp lftp tftp dig " +
      "nslookup host ping traceroute mtr whois openssl nmap gh glab hub aws gcloud gsutil az doctl heroku vercel " +
      "netlify firebase flyctl wrangler s3cmd rclone lynx w3m links elinks svn hg cvs bzr ipfs youtube-dl yt-dlp",
    usage: { network: true, ask: "it talks to the network" },
  },
  {
    rule: "containers",
    programs:
      "docker podman nerdctl buildah kubectl helm oc minikube kind terraform tofu pulumi ansible " +
      "vagrant packer serverless sam cdk lxc virsh qemu-system-x86_64 systemd-nspawn",
    usage: { network: true, ask: "it acts on containers or machines outside the workspace" },
  },
  {
    rule: "system",
    programs:
      "apt apt-get aptitude dpkg yum dnf rpm pacman apk zypper brew port snap flatpak nix nix-env nix-shell emerge " +
      "systemctl service launchctl crontab at batch mount umount modprobe insmod sysctl iptables nft ip ifconfig " +
      "useradd userdel usermod passwd chpasswd visudo kill pkill killall xdg-open open osascript pbcopy xclip gpg " +
      "ssh-keygen ssh-add ssh-agent keyctl security secret-tool logger write wall mail sendmail " +
      "swapon swapoff losetup fsck tune2fs sysrc defaults",
    usage: { ask: "it acts on the system outside the workspace" },
  },
  {
    rule: "interpreter",
    programs:
      "less more most perl ruby irb php lua luajit Rscript R deno ghc runghc ghci tclsh wish expect scala groovy jshell " +
      "gdb lldb ed ex vi vim nvim emacs nano sqlite3 mysql psql mongo mongosh redis-cli m4 bc dc gnuplot octave " +
      "julia elixir iex erl escript clojure racket guile sbcl ocaml kotlin ts-node tsx esno pwsh powershell cmd",
    usage: { ask: "it runs code that is given to it" },
  },
]
