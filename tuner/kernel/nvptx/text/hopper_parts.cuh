/* Instructions by which wgmma kernels add up the parts of K of a cluster (hopper_parts.c). */

FN void store_two(u32 at, u32 a, u32 b)
{
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(a), "r"(b) : "memory");
}

/* Loads 16 bytes from the shared memory of work-group `rank` of the cluster (distributed shared memory). */
FN void load_remote(u32 at, u32 rank, u32 (&v)[4])
{
    asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %4, %5;\n\t"
                 "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [remote];\n\t}"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(at), "r"(rank)
                 : "memory");
}
