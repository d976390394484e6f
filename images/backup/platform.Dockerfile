# The image of the service `backup` in the Compose files: the platform's programs, and those that full backups and
# backups of PostgreSQL need. The jobs beside the volumes use it too. It uses only features of the classic builder.
ARG BASE_IMAGE=node:24-bookworm-slim
ARG PLATFORM_IMAGE

# The platform's image has no Perl, which the packages want and these programs do not use. So only the programs are
# taken, with the libraries that the base does not have.
FROM ${BASE_IMAGE} AS programs
RUN export DEBIAN_FRONTEND=noninteractive \
 && find /usr/lib* -name '*.so*' | sort > /tmp/before \
 && apt-get update -q \
 && apt-get install -q -y --no-install-recommends openssh-client postgresql-client-15 restic \
 && bin=/programs/usr/local/bin && mkdir -p "$bin" \
 && cp -L /usr/bin/restic /usr/bin/ssh /usr/lib/postgresql/15/bin/pg_dump /usr/lib/postgresql/15/bin/pg_restore \
      /usr/lib/postgresql/15/bin/psql "$bin" \
 && ldd "$bin"/* | grep -o '/[^ ]*\.so[^ ]*' | sed 's,^/lib,/usr/lib,' | sort -u | grep -vxFf /tmp/before \
      | while read -r library; do install -D -m 0644 "$library" "/programs$library"; done

FROM ${PLATFORM_IMAGE}
COPY --from=programs /programs/ /
USER root
RUN restic version && pg_dump --version && pg_restore --version && psql --version && ssh -V \
 && install -d -o roost -g roost -m 0700 /backups \
 && mkdir -p /roost/platform /roost/volumes \
 && ln -s /opt/roost/images/backup/entry.sh /usr/local/bin/roost-backup
HEALTHCHECK NONE
ENTRYPOINT ["roost-backup"]
CMD ["help"]
