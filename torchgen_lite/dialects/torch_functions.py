"""PyTorch's functions that formulas may call by their plain names, of release 2.13.

`tests/torchgen/test_functions_of_torch.py` compares the names with PyTorch.
"""

from __future__ import annotations

# The public functions of the module `torch`.
TORCH_FUNCTIONS = frozenset("""
    abs abs_ absolute acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul
    addmm addmv addmv_ addr adjoint affine_grid_generator alias_copy all allclose alpha_dropout alpha_dropout_ amax
    amin aminmax angle any arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2
    arctan_ arctanh arctanh_ are_deterministic_algorithms_enabled argmax argmin argsort argwhere as_strided
    as_strided_ as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh asinh_ atan atan2 atan_ atanh
    atanh_ atleast_1d atleast_2d atleast_3d autocast_decrement_nesting autocast_increment_nesting avg_pool1d baddbmm
    bartlett_window batch_norm batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
    batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats bernoulli
    bilinear binary_cross_entropy_with_logits bincount binomial bitwise_and bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag bmm broadcast_shapes broadcast_tensors
    broadcast_to bucketize can_cast cartesian_prod cat ccol_indices_copy cdist ceil ceil_ celu celu_ chain_matmul
    channel_shuffle cholesky cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_ clamp_max
    clamp_max_ clamp_min clamp_min_ classproperty clear_autocast_cache clip clip_ clone col_indices_copy
    column_stack combinations compile compiled_with_cxx11_abi complex concat concatenate cond conj conj_physical
    conj_physical_ constant_pad_nd conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    convolution copysign corrcoef cos cos_ cosh cosh_ cosine_embedding_loss cosine_similarity count_nonzero cov
    cross crow_indices_copy ctc_loss cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
    cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler
    cudnn_is_acceptable cummax cummin cumprod cumsum cumulative_trapezoid deg2rad deg2rad_ dequantize det detach
    detach_ detach_copy diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff digamma dist div
    divide dot dropout dropout_ dsmm dsplit dstack eig einsum embedding embedding_bag embedding_renorm_ empty
    empty_like empty_permuted empty_quantized empty_strided eq equal erf erf_ erfc erfc_ erfinv exp exp2 exp2_ exp_
    expand_copy expm1 expm1_ eye fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
    fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
    fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
    fbgemm_pack_quantized_matrix feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fill
    fill_ fix fix_ flatten flip fliplr flipud float_power floor floor_ floor_divide fmax fmin fmod fork frac frac_
    frexp frobenius_norm from_dlpack from_file from_numpy frombuffer full full_like fused_moving_avg_obs_fake_quant
    gather gcd gcd_ ge geqrf ger get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
    get_autocast_ipu_dtype get_autocast_xla_dtype get_default_device get_default_dtype get_deterministic_debug_mode
    get_device get_device_module get_file_path get_float32_matmul_precision get_num_interop_threads get_num_threads
    get_rng_state gradient greater greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru
    gru_cell gt hamming_window hann_window hardshrink hash_tensor heaviside hinge_embedding_loss histc histogram
    histogramdd hsmm hsplit hspmm hstack hypot i0 i0_ igamma igammac imag import_ir_module
    import_ir_module_from_buffer index_add index_copy index_fill index_put index_put_ index_reduce index_select
    indices_copy init_num_threads initial_seed inner instance_norm int_repr inverse is_anomaly_check_nan_enabled
    is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled
    is_autocast_xla_enabled is_complex is_conj is_deterministic_algorithms_warn_only_enabled is_distributed
    is_floating_point is_grad_enabled is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size
    is_signed is_storage is_tensor is_vulkan_available is_warn_always_enabled isclose isfinite isin isinf isnan
    isneginf isposinf isreal istft kaiser_window kl_div kron kthvalue layer_norm lcm lcm_ ldexp ldexp_ le lerp less
    less_equal lgamma linspace load lobpcg log log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax logaddexp
    logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_ logspace logsumexp
    lstm lstm_cell lstsq lt lu lu_solve lu_unpack manual_seed margin_ranking_loss masked_fill masked_scatter
    masked_select matmul matrix_exp matrix_power matrix_rank max max_pool1d max_pool1d_with_indices max_pool2d
    max_pool3d maximum mean median merge_type_from_type_comment meshgrid min minimum miopen_batch_norm
    miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
    miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution
    mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer mm mode moveaxis movedim
    msort mul multinomial multiply mv mvlgamma nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow
    narrow_copy native_batch_norm native_channel_shuffle native_dropout native_group_norm native_layer_norm
    native_norm ne neg neg_ negative negative_ nextafter nonzero nonzero_static norm norm_except_dim normal
    not_equal nuclear_norm numel ones ones_like orgqr ormqr outer pairwise_distance parse_ir parse_schema
    parse_type_comment pca_lowrank pdist permute permute_copy pinverse pixel_shuffle pixel_unshuffle poisson
    poisson_nll_loss polar polygamma positive pow prelu prepare_multiprocessing_environment prod
    profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 promote_types put q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qr quantile quantize_per_channel quantize_per_tensor
    quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
    quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
    quantized_rnn_tanh_cell rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like randperm range
    ravel real reciprocal reciprocal_ relu relu_ remainder renorm repeat_interleave reshape resize_as_
    resize_as_sparse_ resolve_conj resolve_neg result_type rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
    roll rot90 round round_ row_indices_copy row_stack rrelu rrelu_ rsqrt rsqrt_ rsub saddmm save scalar_tensor
    scatter scatter_add scatter_reduce searchsorted seed segment_reduce select select_copy select_scatter selu selu_
    set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
    set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
    set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_dtype set_default_tensor_type
    set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads
    set_num_threads set_printoptions set_rng_state set_warn_always sgn sigmoid sigmoid_ sign signbit sin sin_ sinc
    sinc_ sinh sinh_ slice_copy slice_inverse slice_scatter slogdet smm softmax solve sort sparse_bsc_tensor
    sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor split
    split_copy split_with_sizes split_with_sizes_copy spmm sqrt sqrt_ square square_ squeeze squeeze_copy sspaddmm
    stack std std_mean stft sub subtract sum svd svd_lowrank swapaxes swapdims sym_constrain_range
    sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
    symeig t t_copy take take_along_dim tan tan_ tanh tanh_ tensor tensor_split tensordot thread_safe_generator
    threshold threshold_ tile to_dlpack topk trace transpose transpose_copy trapezoid trapz triangular_solve tril
    tril_indices triplet_margin_loss triu triu_indices true_divide trunc trunc_ typename unbind unbind_copy
    unflatten unfold_copy unify_type_list unique unique_consecutive unravel_index unsafe_chunk unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_copy use_deterministic_algorithms values_copy vander var var_mean
    vdot view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vmap vsplit vstack wait where
    while_loop xlogy xlogy_ zero_ zeros zeros_like
    """.split())

# Those of them that are nothing of C++'s which a gradient may need.
_ONLY_PYTHON = frozenset("""
    are_deterministic_algorithms_enabled as_tensor asarray autocast_decrement_nesting
    autocast_increment_nesting broadcast_shapes classproperty clear_autocast_cache compile
    compiled_with_cxx11_abi cond dsmm eig fork from_dlpack from_numpy frombuffer get_autocast_cpu_dtype
    get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype get_default_device
    get_default_dtype get_deterministic_debug_mode get_device_module get_file_path get_float32_matmul_precision
    get_num_interop_threads get_num_threads get_rng_state hsmm import_ir_module import_ir_module_from_buffer
    init_num_threads initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled
    is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
    is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled is_storage
    is_tensor is_warn_always_enabled load lobpcg lstsq lu manual_seed matrix_rank merge_type_from_type_comment
    parse_ir parse_schema parse_type_comment pca_lowrank prepare_multiprocessing_environment
    profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 quantized_gru quantized_lstm
    saddmm save seed set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
    set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
    set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled
    set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode
    set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads set_printoptions
    set_rng_state set_warn_always solve spmm svd_lowrank sym_float sym_fresh_size sym_int sym_ite sym_max
    sym_min sym_not sym_sqrt sym_sum symeig thread_safe_generator to_dlpack typename unify_type_list unique
    unravel_index use_deterministic_algorithms vmap wait while_loop
    """.split())
# What the namespace `at` has besides. Functions for sizes and devices that no schema declares
# are those that a gradient may need.
AT_FUNCTIONS = (TORCH_FUNCTIONS - _ONLY_PYTHON).union("""
    adaptive_avg_pool2d adaptive_avg_pool3d adaptive_avg_pool3d_backward adaptive_max_pool2d
    adaptive_max_pool2d_backward adaptive_max_pool3d adaptive_max_pool3d_backward affine_grid_generator_backward
    alias are_expandable avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward batch_norm_backward
    binary_cross_entropy binary_cross_entropy_backward cauchy col2im conv_depthwise3d
    conv_tbc_backward convolution_backward convolution_backward_overrideable convolution_overrideable copy
    copy_sparse_to_sparse copy_sparse_to_sparse_ cross_entropy_loss cudnn_affine_grid_generator_backward
    cudnn_batch_norm_backward cudnn_grid_sampler_backward cummaxmin_backward cumprod_backward device_of
    diagonal_backward elu elu_ elu_backward embedding_backward embedding_dense_backward embedding_renorm
    embedding_sparse_backward expand_inplace expand_outplace expand_size exponential
    fake_quantize_per_channel_affine_cachemask fake_quantize_per_channel_affine_cachemask_backward
    fake_quantize_per_tensor_affine_cachemask fake_quantize_per_tensor_affine_cachemask_backward fft_fft fft_fft2
    fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift
    fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fmap
    flatten_dense_tensors for_blob fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d
    fractional_max_pool3d_backward from_blob gather_backward gelu gelu_ gelu_backward geometric glu glu_backward
    glu_backward_jvp glu_jvp grid_sampler_2d_backward grid_sampler_3d_backward hardshrink_backward hardsigmoid
    hardsigmoid_ hardsigmoid_backward hardswish hardswish_ hardswish_backward hardtanh hardtanh_ hardtanh_backward
    huber_loss huber_loss_backward im2col index index_select_backward infer_dense_strides infer_size
    infinitely_differentiable_gelu_backward is_expandable_to l1_loss leaky_relu leaky_relu_ leaky_relu_backward lift
    lift_fresh lift_fresh_copy linalg__powsum linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cross linalg_det
    linalg_diagonal linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv
    linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor
    linalg_lu_factor_ex linalg_lu_solve linalg_matmul linalg_matrix_exp linalg_matrix_norm linalg_matrix_power
    linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet linalg_solve
    linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve
    linalg_vander linalg_vecdot linalg_vector_norm linear linear_backward log_normal log_sigmoid
    log_sigmoid_backward log_sigmoid_forward logit_backward lstm_mps_backward masked_scatter_backward
    masked_select_backward matmul_backward matrix_exp_backward max_pool2d_backward max_pool2d_with_indices
    max_pool2d_with_indices_backward max_pool3d_with_indices max_pool3d_with_indices_backward max_unpool2d
    max_unpool3d miopen_batch_norm_backward miopen_rnn_backward mish mish_ mish_backward
    mkldnn_adaptive_avg_pool2d_backward mkldnn_linear mkldnn_linear_backward mkldnn_linear_backward_input
    mkldnn_max_pool2d_backward mkldnn_max_pool3d_backward mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight
    mkldnn_rnn_layer_backward mps_convolution_backward mps_convolution_transpose_backward mse_loss mse_loss_backward
    multi_margin_loss multi_margin_loss_backward multilabel_margin_loss multilabel_margin_loss_backward
    multilabel_margin_loss_forward native_batch_norm_backward native_dropout_backward native_group_norm_backward
    native_layer_norm_backward nested_to_padded_tensor new_empty new_empty_strided new_full new_ones new_zeros
    nll_loss nll_loss2d nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward nll_loss_nd
    nonzero_numpy normal_functional one_hot pad pad_sequence random reflection_pad1d reflection_pad1d_backward
    reflection_pad2d reflection_pad2d_backward reflection_pad3d reflection_pad3d_backward relu6 relu6_ repeat
    replication_pad1d replication_pad1d_backward replication_pad2d replication_pad2d_backward replication_pad3d
    replication_pad3d_backward resize resize_as resize_as_sparse rrelu_with_noise rrelu_with_noise_
    rrelu_with_noise_backward rrelu_with_noise_functional scaled_dot_product_attention select_backward set
    sigmoid_backward silu silu_ silu_backward size slice slice_backward slow_conv3d slow_conv3d_forward
    slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d smooth_l1_loss
    smooth_l1_loss_backward soft_margin_loss soft_margin_loss_backward softplus softplus_backward softshrink
    softshrink_backward sparse_mask sparse_resize sparse_resize_and_clear sparse_sampled_addmm special_airy_ai
    special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t
    special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_digamma
    special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1
    special_gammainc special_gammaincc special_gammaln special_hermite_polynomial_h special_hermite_polynomial_he
    special_i0 special_i0e special_i1 special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p
    special_log1p special_log_ndtr special_log_softmax special_logit special_logsumexp special_modified_bessel_i0
    special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_multigammaln
    special_ndtr special_ndtri special_polygamma special_psi special_round special_scaled_modified_bessel_k0
    special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_sinc special_softmax
    special_spherical_bessel_j0 special_xlog1py special_xlogy special_zeta stride sum_to tanh_backward thnn_conv2d
    threshold_backward to_dense_backward to_mkldnn to_mkldnn_backward to_padded_tensor trace_backward
    unflatten_dense_tensors unfold_backward uniform unique_dim unique_dim_consecutive upsample_bicubic2d
    upsample_bicubic2d_backward upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d
    upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d
    upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward upsample_trilinear3d
    upsample_trilinear3d_backward value_selecting_reduction_backward zero
    """.split())
# What the name of an operator gets for a variant of its function.
_VARIANTS = ("_symint", "_outf", "_out")


def in_at(name: str) -> bool:
    """Whether C++ may have a function or a type of this name in the namespace `at`. Names that begin with an underscore
    are PyTorch's own, which come and go.

    >>> in_at("sum_symint"), in_at("_unheard_of"), in_at("TensorList"), in_at("sigmoyd")
    (True, True, True, False)
    """
    for variant in _VARIANTS:
        name = name.removesuffix(variant)
    return name[0] == "_" or name[0].isupper() or name in AT_FUNCTIONS


# Functions of `at` that have no header of their own.
_PLAIN = frozenset("""
    are_expandable device_of expand_inplace expand_outplace expand_size flatten_dense_tensors fmap for_blob from_blob
    infer_dense_strides infer_size is_expandable_to normal_functional rrelu_with_noise_functional sum_to
    unflatten_dense_tensors
    """.split())
EVERYTHING = "ATen/ATen.h"


def at_header(name: str) -> str:
    """The header that declares a function of `at`: that of its operator, or the one that has them all.

    >>> at_header("sum_symint"), at_header("tanh_"), at_header("sum_to"), at_header("_softmax")
    ('ATen/ops/sum.h', 'ATen/ops/tanh.h', 'ATen/ATen.h', 'ATen/ATen.h')
    """
    for variant in _VARIANTS:
        name = name.removesuffix(variant)
    is_operator = name in AT_FUNCTIONS and name not in _PLAIN
    return f"ATen/ops/{name.removesuffix('_')}.h" if is_operator else EVERYTHING
